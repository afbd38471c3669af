"""One HTML file that shows a motion in three dimensions beside its channels: `trajectory.view("out.html")`."""

from .page import Page as Page
from .page import make_page as make_page
from .scene import make_scene as make_scene
