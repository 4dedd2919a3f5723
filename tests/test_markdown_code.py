"""Code is a fence in its language, with its lines and indentation, however a page lays it out."""

from __future__ import annotations

import numpy as np
import pytest

from dehusk.answer.markdown import markdown
from dehusk.answer.text import text
from dehusk.page.page import Page
from dehusk.page.parse import parse

GITHUB = (
    '<table class="highlight js-file-line-container" data-tagsearch-lang="Python">\n<tr>\n'
    '  <td class="blob-num" data-line-number=1></td>\n  <td class="blob-code">a<b>:</b></td>\n</tr>'
    '<tr><td class="blob-num">2</td><td class="blob-code">    b</td></tr>'
    '<tr><td class="blob-num"></td><td class="blob-code">\n</td></tr>'
    '<tr><td class="blob-num"></td><td class="blob-code">c</td></tr></table>'
)
CRAYON = (
    '<div class="crayon-syntax"><textarea class="crayon-plain">a:\n  b</textarea><table><tr>'
    '<td class="crayon-nums"><div>1</div><div>2</div></td><td class="crayon-code"><div>'
    '<div class="crayon-line"><span>a</span>:</div><div class="crayon-line">&nbsp; b</div></div>'
    "</td></table></div>"
)
SYNTAX_HIGHLIGHTER = (
    '<div class="syntaxhighlighter ruby"><table><tr>'
    '<td class="gutter"><div>1</div><div>2</div></td>'
    '<td class="code"><div class="container"><div class="line"><code>a</code> <code>b</code></div>'
    '<div class="line"><code>&nbsp;&nbsp;</code><code>c</code></div></div></table></div>'
)
HEXO = (
    '<figure class="highlight js"><table><tr>'
    '<td class="gutter"><pre><span>1</span><br><span>2</span>'
    '</pre></td><td class="code"><pre><span>a</span><br><span>  b</span></pre></table></figure>'
)
DOXYGEN = (
    '<div class="fragment"><div class="line"><a id="l1"></a><span class="lineno">    9</span>a:'
    '</div>\n<div class="line"><span class="lineno"><a href="/b">   10</a></span> </div>\n'
    '<div class="line"><span class="lineno">   11</span>  <a href="/c">b</a>;</div>\n</div>'
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (DOXYGEN, "```\na:\n \n  b;\n```"),
        ('<div class="fragment"><p>a</p></div>', "a"),
        ("<pre><div><span>a</span> <span>b</span></div></pre>", "```\na b\n```"),
        (GITHUB, "```python\na:\n    b\n\nc\n```"),
        (CRAYON, "```\na:\n  b\n```"),
        (SYNTAX_HIGHLIGHTER, "```ruby\na b\n  c\n```"),
        (HEXO, "```js\na\n  b\n```"),
        ("<div class=gutter><pre>1\n2</pre></div>\n<div class=code><pre>a\n  b</pre></div>",
         "```\na\n  b\n```"),
        ("<div class=line-numbers><a>1</a>\n<a>2</a></div><div><pre>a</pre></div>", "```\na\n```"),
        ("<div class=gutter>1 a</div><pre>b</pre>", "1 a\n\n```\nb\n```"),
        ("<div>12</div><pre>b</pre>", "12\n\n```\nb\n```"),
    ],
)  # fmt: skip
def test_code_is_a_fence_however_it_is_laid_out(html: str, expected: str) -> None:
    tree = parse(Page(html)).tree
    labels = np.zeros(len(tree), np.int8)
    assert markdown(tree, labels, "https://h.example/") == expected
    lines = [line for line in expected.split("\n") if not line.startswith("```")]
    assert text(tree, labels).split() == " ".join(lines).split()
