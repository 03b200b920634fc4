"""Sphinx configuration of the documentation site; ``bash scripts/docs`` builds it."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]
os.environ["MPLBACKEND"] = "Agg"
os.environ["LINKWISE_QUIET"] = "1"

from api_pages import homes
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

import linkwise

project = "linkwise"
author = "the linkwise developers"
project_copyright = "the linkwise developers"
version = release = linkwise.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
]
templates_path = [str(HERE / "templates")]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
default_role = "py:obj"
exclude_patterns = ["gallery/README.rst"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say the types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = "linkwise"
html_static_path = ["static"]
html_css_files = ["linkwise.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "linkwise"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {"**": ["page-toc"], "papers": []},
    "show_prev_next": True,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The order of a first visit; an example that is not listed comes last.
ORDER = [
    "must_and_cannot_links", "front_door", "triplets", "taxonomy", "missing_labels", "groups", "soft_links", "sizes",
    "explain", "repair", "certificate", "why", "doubt", "questions", "learned_metric", "mixture", "spectral",
    "text", "records", "precomputed", "many_samples", "forest", "pipeline", "search", "new_samples", "heatmap",
]  # fmt: skip


def example_order(name: str) -> tuple[int, str]:
    """The place of an example in the gallery."""
    stem = Path(name).stem.removeprefix("plot_")
    return (ORDER.index(stem) if stem in ORDER else len(ORDER), stem)


class ExampleOrder:
    """The key by which sphinx-gallery sorts examples."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        """The place of one file."""
        return example_order(name)

    def __repr__(self) -> str:
        return "<ExampleOrder>"


FILTERS: list[Any] = []


def fresh_example(gallery_conf: dict[str, Any], name: str, when: str) -> None:  # noqa: ARG001 - sphinx-gallery's signature
    """Let every example start alike: pictures of one size, warnings are errors; then restore the filters."""
    import matplotlib.pyplot as plt

    if when == "after":
        warnings.filters[:] = FILTERS
        return
    FILTERS[:] = warnings.filters
    plt.rcdefaults()
    plt.rcParams.update({"figure.figsize": (7.2, 4.2), "figure.dpi": 100, "savefig.dpi": 100})
    warnings.simplefilter("error")


sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "ignore_pattern": r"learn_a_metric\.py",
    "within_subsection_order": ExampleOrder,
    "reset_modules": (fresh_example,),
    "reset_modules_order": "both",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|'list'|'tuple'",  # what a call that draws returns
    "copyfile_regex": r"(?!.*)",
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
}
suppress_warnings = ["config.cache"]  # two settings are functions, which Sphinx cannot keep between builds


HOMES: dict[str, str] = {}
# On pages about the terminal these words are verbs of the command line, not the functions of the same names.
VERBS = frozenset(["check", "cluster", "duplicates", "look", "refine", "repair", "report", "why"])
TERMINAL = frozenset(["command-line", "tutorial", "door-table", "journeys", "files"])


def link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link public names in the prose of pages to their page of the reference."""
    HOMES.update(HOMES or homes())
    domain = app.env.domains.python_domain
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext().removesuffix("()")
        home = HOMES.get(text) or HOMES.get(f"linkwise.{text}")
        inside = literal.parent
        while inside is not None and not isinstance(inside, (nodes.reference, nodes.title)):
            inside = inside.parent
        verb = text in VERBS and (page in TERMINAL or page.startswith("journey-"))
        if home is None or inside is not None or home not in domain.objects or verb:
            continue
        entry = domain.objects[home]
        if entry.docname == page:
            continue
        uri = app.builder.get_relative_uri(page, entry.docname) + f"#{entry.node_id}"
        literal.replace_self(nodes.reference("", "", literal.deepcopy(), refuri=uri, internal=True, classes=["api"]))


def leave_out(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001
    """Leave out what scikit-learn and Python add to a class: their own pages describe it."""
    home = str(getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", None) or "")
    foreign = home.split(".", maxsplit=1)[0] in ("sklearn", "enum", "builtins") or name in dir(str)
    foreign |= str(getattr(thing, "__doc__", "")).startswith("Alias for field number")  # told among the attributes
    return True if foreign or name.endswith("_request") else None


def write_formula(writer: Any, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers show without scripts."""
    writer.body.append(convert(node.astext(), display="inline" if isinstance(node, nodes.math) else "block"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Connect what the site adds to Sphinx."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.connect("autodoc-skip-member", leave_out)
    app.connect("doctree-resolved", link_names)
