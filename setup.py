"""What pyproject.toml cannot say: the extension modules of this build, on which app/setup/backend.py decides."""

from backend import settings
from setuptools import setup

setup(**settings())
