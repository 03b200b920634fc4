"""What happened, for people: the facts of a fitted result, and one self-contained page that tells them."""

from linkwise.report._facts import Facts, gather_facts
from linkwise.report._html import render_html, write_report

__all__ = ["Facts", "gather_facts", "render_html", "write_report"]
