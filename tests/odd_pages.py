"""Fifty pages that parsers trip over, written for dehusk: a browser reads each in its own way."""

from __future__ import annotations

ODD_PAGES = (
    "", "text alone", "<p>one<p>two<div>three", "<b><p>bold</b> not</p>", "<a>1<a>2<a>3</a>",
    "<i>1<b>2</i>3</b>4", "<table>lost<tr><td>1</table>", "<table><td>1<td>2<tr><td>3</table>",
    "<table><tr><td><table><tr><td>deep</table></table>", "<table><caption>c<tr><td>1</table>",
    "<table><p>foster</p><tr><td>1</td></tr></table>", "<ul><li>1<li>2<ul><li>3</ul>4</ul>",
    "<dl><dt>a<dd>b<dt>c</dl>", "<select><option>1<option>2<optgroup label=x><option>3</select>",
    "<pre>\nfirst newline</pre>", "<pre>\n\ntwo</pre>", "<textarea>\n<b>raw</b></textarea>",
    "<pre>\n</pre>after", "<h1>1<h2>2</h1>3", "<button>1<button>2</button>",
    "<form>1<form>2</form>3</form>", "<p>1<!-- c -->2<!-- d --> 3</p>", "<!-- before --><p>x",
    "</p></br></div>ends only", "<br></br><hr>x<img alt=a>", "<p>&amp; &lt; &nbsp; &copy &#x41;",
    "<svg><g><text>in svg</text></g></svg>after",
    "<svg><foreignObject><p>html</p></foreignObject></svg>",
    "<svg><title>t</title><desc><b>d</b></desc></svg>", "<math><mi>x</mi><mo>=</mo></math>y",
    "<svg><p>breaks out",
    "<math><annotation-xml encoding='text/html'><p>in</p></annotation-xml></math>",
    "<script>var a = '<p>no</p>';</script><p>yes", "<style>p { color: red }</style><p>x",
    "<noscript><p>no scripts</p></noscript><p>x", "<template><p>inert</p></template><p>x",
    "<iframe><p>raw</p></iframe>x", "<noembed><p>raw</noembed>x", "<xmp><p>raw</p></xmp>x",
    "<p hidden>gone</p><p>there", "<my-element>custom <x-y>inner</x-y></my-element>",
    "<body class=a><p>1</p></body><p>after body", "<html lang=en><html class=b><p>x",
    "<head><title>t</title></head>text<meta name=a><link rel=b>", "<p>a\u00adb\u200bc\ufeffd</p>",
    "<p>日本語<ruby>漢<rp>(<rt>かん<rp>)</ruby>",
    "<div " + " ".join(f"a{n}=b" for n in range(60)) + ">x",
    "<div>" * 80 + "deep", "<nobr>1<nobr>2</nobr>", "<center><font color=red><u>old</center>x",
    "<details><summary>s</summary>d</details><dialog open>e</dialog>", "<marquee>1<p>2</marquee>3",
    "<p id='\"q\"' class=\"it's\" title='<x>'>quotes", "<label>l<input value='a\"b'></label>",
)  # fmt: skip
