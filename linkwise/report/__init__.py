"""What happened, for people: the facts of a result, and a page, Markdown or JSON that tells them."""

from linkwise.report._facts import Facts, Score
from linkwise.report._gather import gather_facts
from linkwise.report._html import render_html
from linkwise.report._json import to_json
from linkwise.report._markdown import render_markdown
from linkwise.report._write import write_report

__all__ = ["Facts", "Score", "gather_facts", "render_html", "render_markdown", "to_json", "write_report"]
