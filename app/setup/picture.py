"""Draw the picture in the README: the course replay under both policies at iteration 15, as SVG.

    python -m app.setup.picture          (make picture)

Text, so that the repository holds no binary, and made from the engine's own records, so that a test can tell
when it is out of date. The live page shows the same and much more.
"""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from app.page.main import course_trace, last_iteration
from app.page.payload import payload

FILE = Path(__file__).with_name("picture.svg")
SHOWN = 15  # the iteration in which d takes over a's seat under continuous batching
WIDTH, HEIGHT = 1200, 330
PANEL, GAP, PAD = 592, 16, 20
TITLES = {"static": "membership fixed", "continuous": "membership per iteration"}

STYLE = """
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1a1e24}
.soft{fill:#58616c;font-size:12px}.big{font-size:22px;font-weight:700}.title{font-size:16px;font-weight:650}
.on{fill:#fff;font-weight:650;font-size:12px;text-anchor:middle}.ink{font-weight:650;font-size:12px;text-anchor:middle}.panel{fill:#fff;stroke:#e2e4e8}.idle{fill:#f0f1f3}
.now{stroke:#111418;stroke-width:2}.hatch{stroke:#8a929d}
@media(prefers-color-scheme:dark){text{fill:#e9ebee}.soft{fill:#a0a8b3}.panel{fill:#191c20;stroke:#2b3037}
.idle{fill:#202429}.now{stroke:#fff}}
"""


def picture() -> str:
    """The whole SVG document."""
    made = payload(course_trace())
    policies = made["replay"]["policies"]
    last = last_iteration(made["replay"])
    panels = [
        f'<g transform="translate({index * (PANEL + GAP)} 0)">{_panel(name, policy, made, last)}</g>'
        for index, (name, policy) in enumerate(policies.items())
    ]
    label = f"Nine requests under static and continuous batching, at iteration {SHOWN}."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{label}"><style>{STYLE}</style><defs><pattern id="held" width="6" height="6" '
        'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V6" stroke-width="3"/>'
        f"</pattern></defs>\n{chr(10).join(panels)}\n</svg>\n"
    )


def _panel(name: str, policy: dict[str, Any], made: dict[str, Any], last: int) -> str:
    figures = policy["metrics"]
    cards = (
        (str(figures["iterations"]), "iterations"),
        (f"{figures['utilization'] * 100:.0f} %", "utilization"),
        (str(figures["wait_p95"]), "P95 wait"),
        (str(figures["peak_pages"]), "peak pages"),
    )
    parts = [
        f'<rect class="panel" x=".5" y=".5" width="{PANEL - 1}" height="{HEIGHT - 1}" rx="12"/>',
        f'<text class="title" x="{PAD}" y="32">{name.capitalize()}</text>',
        f'<text class="soft" x="{PAD + 104}" y="32">{escape(TITLES[name])}</text>',
    ]
    for index, (value, label) in enumerate(cards):
        x = PAD + index * 138
        parts.append(f'<text class="big" x="{x}" y="68">{value}</text><text class="soft" x="{x}" y="86">{label}</text>')
    parts += _seats(policy, made, last)
    parts += _pages(policy, made)
    return "\n".join(parts)


def _seats(policy: dict[str, Any], made: dict[str, Any], last: int) -> list[str]:
    left, top, height = PAD + 24, 112, 26
    step = (PANEL - PAD - left) / last
    parts = []
    for seat in range(made["replay"]["limits"]["max_num_seqs"]):
        y = top + seat * (height + 6)
        parts.append(f'<text class="soft" x="{PAD}" y="{y + 17}">{seat + 1}</text>')
        parts.append(f'<rect class="idle" x="{left}" y="{y}" width="{last * step:.1f}" height="{height}" rx="4"/>')
        for rid, held, first, final in _stays(policy["rows"], seat):
            x, width = left + (first - 1) * step, (final - first + 1) * step - 1
            color = made["colors"][rid]
            box = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="4"'
            if held:
                parts.append(f'<rect {box} fill="url(#held)" stroke="{color}"/>')
            else:
                parts.append(f'<rect {box} fill="{color}"/>')
                parts.append(f'<text class="on" x="{x + width / 2:.1f}" y="{y + 17}">{escape(rid)}</text>')
    x = left + (SHOWN - 0.5) * step
    parts.append(f'<path class="now" d="M{x:.1f} {top - 6}V{top + 98}"/>')
    return parts


def _stays(rows: list[dict[str, Any]], seat: int) -> list[tuple[str, bool, int, int]]:
    """Who is on `seat`, whether only holding it, from which iteration to which."""
    stays: list[tuple[str, bool, int, int]] = []
    for row in rows:
        sitter = row["seats"][seat] if "seats" in row else None
        if sitter is None:
            continue
        t, who = row["iteration"], (sitter["id"], sitter["state"] == "held")
        if stays and stays[-1][:2] == who and stays[-1][3] == t - 1:
            stays[-1] = (*who, stays[-1][2], t)
        else:
            stays.append((*who, t, t))
    return stays


def _pages(policy: dict[str, Any], made: dict[str, Any]) -> list[str]:
    limits = made["replay"]["limits"]
    row = next(row for row in policy["rows"] if row.get("iteration") == SHOWN)
    across, top, height = 16, 238, 26
    width = (PANEL - 2 * PAD) / across
    parts = [
        f'<text class="soft" x="{PAD}" y="{top - 8}">KV pages of {limits["page_size"]} tokens: '
        f"{row['pages_used']} of {limits['num_pages']} held in iteration {SHOWN}</text>"
    ]
    owner = {page: (rid, place) for rid, table in row["pages"].items() for place, page in enumerate(table)}
    for page in range(limits["num_pages"]):
        x, y = PAD + page % across * width, top + page // across * (height + 6)
        parts.append(f'<rect class="idle" x="{x:.1f}" y="{y}" width="{width - 5:.1f}" height="{height}" rx="4"/>')
        if page in owner:
            rid, place = owner[page]
            used = max(0, min(1, row["kv"][rid] / limits["page_size"] - place))
            box = f'x="{x:.1f}" y="{y}" height="{height}" rx="4" fill="{made["colors"][rid]}"'
            parts.append(f'<rect {box} width="{width - 5:.1f}" opacity=".3"/>')
            parts.append(f'<rect {box} width="{(width - 5) * used:.1f}"/>')
            ink = "on" if used > 0.6 else "ink"  # white letters only where the colour is full
            parts.append(f'<text class="{ink}" x="{x + (width - 5) / 2:.1f}" y="{y + 17}">{escape(rid)}</text>')
    return parts


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
