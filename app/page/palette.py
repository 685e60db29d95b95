"""One colour a request, the same on the timeline, the page grid and the charts."""

from collections.abc import Iterable

# Twelve hues of nearly equal luminance (0.14 to 0.175): white letters reach 4.5:1 on each of them, and
# each stands at 3:1 or more against the light and the dark panel (WCAG 2.2, 1.4.3 and 1.4.11). Hues alone
# cannot serve every eye, so a request always carries its letter as well.
HUES = (
    "#066fbd",
    "#b05a02",
    "#0c7b59",
    "#c13179",
    "#794ed8",
    "#847400",
    "#ce2a29",
    "#047e94",
    "#646d7b",
    "#a143b6",
    "#437f0f",
    "#846154",
)


def colors_for(ids: Iterable[str]) -> dict[str, str]:
    """Map request ids, in trace order, to colours; past twelve requests the hues repeat."""
    return {rid: HUES[index % len(HUES)] for index, rid in enumerate(ids)}
