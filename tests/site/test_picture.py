"""The picture in the README is what the lab draws today."""

from app.setup.picture import FILE, picture


def test_the_picture_in_the_readme_is_up_to_date():
    assert FILE.read_text(encoding="utf-8") == picture(), "run: make picture"
