"""A labelled tree to what people read: text, HTML, links, and the share of template."""

from dehusk.answer.render.as_html import content_html, marked_html, slotted_html, template_html
from dehusk.answer.render.as_links import Link, links
from dehusk.answer.render.as_pieces import ContentPiece, pieces
from dehusk.answer.render.as_text import text
from dehusk.answer.render.as_view import VIEWS, Showing, piece_marks, verdict_words, view_html
from dehusk.answer.render.share import template_share

__all__ = [
    "VIEWS",
    "ContentPiece",
    "Link",
    "Showing",
    "content_html",
    "links",
    "marked_html",
    "piece_marks",
    "pieces",
    "slotted_html",
    "template_html",
    "template_share",
    "text",
    "verdict_words",
    "view_html",
]
