"""Formulas are said once, in LaTeX, in Markdown between dollar signs and in text without them."""

from __future__ import annotations

import pytest

from dehusk import _kernel
from dehusk.answer.formulas import formulas
from dehusk.answer.labels import Label
from dehusk.answer.markdown import markdown
from dehusk.answer.text import text
from dehusk.page.page import Page
from dehusk.page.parse import parse
from labelled import all_content

X2 = r"<msup><mi>x</mi><mn>2</mn></msup>"
WIKI = r"{\displaystyle x^{2}}"
TEX = '<annotation encoding="application/x-tex">{}</annotation>'
KATEX = (
    f'<span class="katex"><span class="katex-mathml"><math><semantics>{X2}{TEX.format("x^2")}'
    '</semantics></math></span><span class="katex-html" aria-hidden="true">x2</span></span>'
)
ASSISTIVE = f'<mjx-assistive-mml><math display="block">{X2}</math></mjx-assistive-mml>'


def _said(html: str) -> tuple[str, str]:
    tree = parse(Page(html)).tree
    labels = all_content(tree)
    return markdown(tree, labels, "https://h.example/"), text(tree, labels)


@pytest.mark.parametrize(
    ("html", "latex", "is_block"),
    [
        (KATEX, "x^2", False),
        (f'<span class="katex-display">{KATEX}</span>', "x^2", True),
        ('<script type="math/tex">a_1</script>', "a_1", False),
        ('<script type="math/tex; mode=display">% <![CDATA[\na < b %]]></script>', "a < b", True),
        (
            (
                '<span class="MathJax_Preview">x2</span><span class="MathJax">x2'
                f'<span class="MJX_Assistive_MathML"><math>{X2}</math></span></span>'
                '<script type="math/tex">x^2</script>'
            ),
            "x^2",
            False,
        ),
        (f'<span class="MathJax_SVG"><svg></svg><math>{X2}</math></span>', "x^{2}", False),
        (
            (
                '<mjx-container class="MathJax" display="true"><mjx-math>x2</mjx-math>'
                f"{ASSISTIVE}</mjx-container>"
            ),
            "x^{2}",
            True,
        ),
        ('<math data-latex="x^2"><mi>x</mi></math>', "x^2", False),
        ('<math alttext="\\sqrt{x}"><msqrt><mi>x</mi></msqrt></math>', r"\sqrt{x}", False),
        (
            (
                '<span class="mwe-math-element"><span style="display: none"><math>'
                f"<semantics>{X2}{TEX.format(WIKI)}</semantics></math></span>"
                '<img class="mwe-math-fallback-image-inline" src="a" alt="{\\displaystyle x^{2}}">'
                "</span>"
            ),
            "x^{2}",
            False,
        ),
        ('<img class="tex" src="a" alt="x^2">', "x^2", False),
        ('<img class="formulaDsp" src="a" alt="\\[x^2\\]">', "x^2", True),
        ('<span class="math notranslate nohighlight">\\(x_1\\)</span>', "x_1", False),
        ('<div class="math">\\[\nx\n\\]</div>', "x", True),
        ('<span class="math inline">x &lt; y</span>', "x < y", False),
        ('<span class="math display">x</span>', "x", True),
        ('<math-renderer class="js-inline-math">$x$</math-renderer>', "x", False),
        (r"\(\frac{a}{b}\)", r"\frac{a}{b}", False),
        (r"\[a+b\]", "a+b", True),
        (r"\(a&lt;b\)", "a< b", False),
    ],
)
def test_a_formula_is_said_once(html: str, latex: str, is_block: bool) -> None:
    written, said = _said(f"<p>Let {html} be</p>")
    if is_block:
        assert written == f"Let\n\n$${latex}$$\n\nbe"
    else:
        assert written == f"Let ${latex}$ be"
    assert said.split() == ["Let", *latex.split(), "be"]


@pytest.mark.parametrize(
    ("mathml", "latex"),
    [
        ("<mfrac><mi>m</mi><mn>2</mn></mfrac>", r"\frac{m}{2}"),
        ("<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>", r"\sqrt{a+b}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<msup><mrow><mi>a</mi><mi>b</mi></mrow><mn>2</mn></msup>", "{ab}^{2}"),
        ("<msup><mi>f</mi><mo>′</mo></msup>", "f'"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>",
            r"\sum_{i=1}^{n}",
        ),
        ("<munder><mi>lim</mi><mi>x</mi></munder>", r"\lim_{x}"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", r"\bar{x}"),
        ("<mover><mi>a</mi><mi>b</mi></mover>", r"\overset{b}{a}"),
        ("<mi>α</mi><mo>≤</mo><mi>β</mi><mi>x</mi>", r"\alpha\le\beta x"),
        ("<mi>sin</mi><mi>x</mi>", r"\sin x"),
        ("<mtext>if 5%</mtext>", r"\text{if 5\%}"),
        ("<mi mathvariant=double-struck>R</mi>", r"\mathbb{R}"),
        ("<mfenced open=[ close=]><mi>a</mi><mi>b</mi></mfenced>", "[a,b]"),
        (
            (
                "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr>"
                "<mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable>"
            ),
            r"\begin{matrix} 1 & 0 \\ 0 & 1 \end{matrix}",
        ),
        (
            "<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>",
            "{}_{6}^{14}C",
        ),
        ("<mrow><mo>{</mo><mi>x</mi><mo>∣</mo><mi>y</mi><mo>}</mo></mrow>", r"\{x|y\}"),
    ],
)
def test_mathml_is_written_as_latex(mathml: str, latex: str) -> None:
    assert _said(f"<p><math>{mathml}</math>")[1] == latex


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>It costs $5 and $6.", "It costs $5 and $6."),
        ("<p>From $5 to 10$ each", "From \\$5 to 10$ each"),
        (f"<p>For $5 you get {KATEX}", "For \\$5 you get $x^2$"),
        ("<script src=mathjax.js></script><p>For $x_1$ pay $5", "For $x_1$ pay $5"),
        ("<p>Group with \\(foo bar\\)", "Group with \\\\(foo bar\\\\)"),
        ("<p><code>\\(a\\)</code>", "`\\(a\\)`"),
        ("<h2>On \\[x\\]</h2>", "## On $x$"),
        (
            "<table><tr><th>a<th>b<tr><td>\\(|x|\\)<td>d</table>",
            "| a | b |\n| --- | --- |\n| $\\vert x\\vert$ | d |",
        ),
    ],
)
def test_what_is_no_formula_stays_what_it_is(html: str, expected: str) -> None:
    assert _said(html)[0] == expected


def test_a_formula_of_the_template_is_not_said() -> None:
    tree = parse(Page(f"<p>a</p><footer>{KATEX} <script type='math/tex'>y</script></footer>")).tree
    labels = all_content(tree)
    footer = next(i for i in range(len(tree)) if tree.name(i) == "footer")
    shown = tree.shown[footer : tree.end[footer]]
    labels[footer : tree.end[footer]][shown] = Label.TEMPLATE
    assert (markdown(tree, labels, None), text(tree, labels)) == ("a", "a")


def test_formulas_are_found_in_time_that_grows_with_the_page() -> None:
    pages = (
        "<p>" + r"\(" * 100_000,
        "<p>" + r"\(a\)" * 50_000,
        "<script src=katex.js></script><p>" + "$a" * 100_000,
        "<math>" + "<mover>" * 400 + "<mi>x</mi>" * 20_000,
        "<span class=katex>" * 400 + "x" * 10,
        "<math>" + "<mn>1</mn><mo>+</mo>" * 50_000 + "</math>",
        "<p>" + '<script type="math/tex">' + "x+" * 500_000 + "</script>",
    )
    for html in pages:
        tree = parse(Page(html)).tree
        assert len(formulas(tree).latex) <= 10 * len(html)
        assert _said(html)[1]


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ('<img src="a" alt="x" class="left tex">', 1),
        ('<img class="text context" src="texture.png" alt="the formula of math">', 0),
        ('<img class="&nbsp;tex" alt=x>', 0),
        ('<div class="text">x</div><p class="texts">y</p><span class="latexed">z</span>', 1),
        ('<div class="">x</div><img class="" alt=""><img class>', 0),
    ],
)
def test_few_elements_are_looked_at_for_formulas(html: str, count: int) -> None:
    found, _ = _kernel.formula_signs(parse(Page(html)).tree.kernel)
    assert len(found) == 4 * count
