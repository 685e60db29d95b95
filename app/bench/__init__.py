"""`make bench-site`: how fast the site starts, beside plain `panel convert` and beside a bare runtime."""
