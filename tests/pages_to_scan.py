"""Pages that are hard to scan, and pages that somebody made to do harm."""

from __future__ import annotations

from hypothesis import strategies as st

HARD = {
    "empty": "",
    "text alone": "hello",
    "escapes": "<p>a&lt;b&nbsp;c&amp;d &quot;x&quot; &amp;lt;",
    "brackets in attributes": "<a title=\"x<y>&nbsp;&amp;'q'\" b>k</a>",
    "bracket in an attribute's name": "<div a<b=c>x</div>y",
    "bracket in a tag's name": "<a<b c>d</a<b>e",
    "comment in an attribute's name": '<div style="a" <!--start left-->x<p>y</div>',
    "script in an attribute's name": "<div <script>x</div><script>a<b</script>z",
    "quote in an attribute's name": "<div \"x='1' =y>z",
    "script that holds a script": "<script><!--<script></script>--></script><p>x",
    "unclosed script that holds a script": "<script><!--<script>a",
    "script with a comment": "<script><!--\nif (a<b) c();\n//--></script><p>x",
    "style in svg": "<svg><style>a&lt;/style></style><path/></svg><style>b<c</style>",
    "void names in svg": "<svg><link>z<input></svg><link>w<br>v",
    "html in svg": "<svg><foreignObject><style>a<b</style><br>c</foreignObject></svg>",
    "title in svg": "<svg><title>a<p>b</p></title></svg>",
    "style in math": "<math><mi><style>a<b</style></mi><annotation-xml>x</annotation-xml></math>",
    "cdata": "<svg><![CDATA[a<b]]></svg><p><![CDATA[x]]>",
    "newlines in pre": "<pre>\n\nx</pre><textarea>\n\ny</textarea><pre>\nz</pre><pre>\n<b>c",
    "newlines in svg": "<svg>c<textarea>\n</textarea>d<foreignObject><textarea>\n\ne",
    "white space of the body": "<html style='white-space: pre'><body style='white-space:pre'>a<b>b",
    "terms in an ordered list": "<ol y><dl><dd>b</dl><li value=3>c",
    "plaintext": "<p>a<plaintext>b<c></plaintext>d",
    "plaintext in a link": "<p><a href=x><p>a<plaintext>b<c></plaintext>d",
    "what looks like an end tag": "<script>a</scripty>b</script><noembed></noembedx></noembed>",
    "template": "<template><p>in</p>x<script>a<b</script></template>y",
    "noscript": "<noscript><link></noscript><body><noscript><img src=a>w</noscript>",
    "odd comments": "<p><!x-->a<!-- > -->b<!-->c<!--<p>d-->e<!---->f<!--->g<!-- -- -->h<!-",
    "raw elements": "<iframe><p>a</iframe><noembed>a<b</noembed><xmp>a<b>&amp;</xmp><title>a<b",
    "frames": "<frameset><frame></frameset><noframes>a<b</noframes>",
    "long names": "<x-abcdefghijklmnopq r=s>d<eight-by>e<figcaption>f<sixteen-bytes-ab>g",
    "half a surrogate pair": "<p>\ud800x",
    "byte order mark": "\ufeff<p>x",
    "controls": "<p>a\x01b\x0cc\x00d",
    "select": "<select><option>a<option>b<optgroup label=c><option>d</select>",
    "tables": "<table>x<tr><td>a<td>b<caption>c</caption><col><tbody>d</table>",
    "misnesting": "<b><p>a</b>b<a href=x>c<a href=y>d<table><a>e",
    "left by php": "<nav>m<?php echo 1; ?></nav><p>bbb</p><svg><?x?><g>c</g></svg><?xml v?>d",
    "white space": "<p>" + " \n\t" * 100 + "x" + " " * 300 + "<b>" + "\n" * 500 + "</b>",
}

TEXTS = (
    "<p>", "<td>", "<tr>", "<table>", "</table>", "<br>", "<pre>", "</pre>", "<a href=x>", "</a>",
    "<xmp>", "</xmp>", "<li>", "<b>", "</b>", "<div hidden>", "</div>", "<textarea>", "a", "word",
    "&nbsp;", " ", "\n", "\n\n  ", "\t", "&amp;", "&lt;b", ">", "&quot;", "é", "\u3000", "\x1b",
    "&amp;nbsp;", "<noscript>",
)  # fmt: skip
"""Pieces of pages whose text is hard to join."""

PIECES = st.sampled_from(
    [
        *(html for html in HARD.values() if "\0" not in html),
        "<p>",
        "</p>",
        "<?php a<b ?>",
        "<?p>",
        "<div class='a b'>",
        "</div>",
        "text ",
        "&amp;",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<svg>",
        "</svg>",
        "<math>",
        "<br>",
        "<pre>",
        "\n",
        "<td>",
        "<li>",
        "<style>",
        "</style>",
        "<template>",
        "</template>",
        "<a href=x>",
        "</a>",
        "<",
        ">",
        '"',
        "é",
    ]
)
"""Pieces of HTML whose mixtures are pages."""

HOSTILE = {
    "a million siblings": "<br>" * 1_000_000,
    "nested elements": "<div>" * 100_000 + "x",
    "attributes": "<p " + " ".join(f"a{i}=b" for i in range(100_000)) + ">x",
    "attributes named <!--": "<p " + "<!--x " * 200_000 + ">x",
    "comments": "<!--<-->" * 200_000,
    "scripts": "<script><!--<</script>" * 20_000,
    "brackets in a script": "<script>" + "<" * 2_000_000 + "</script>",
    "hidden": "<p " + "x=' hidden=' " * 100 + ">" + "<i hidden>" * 20_000,
    "hidden in a value": "<p title='" + " hidden=" * 200_000 + "'>x",
    "hidden in text": "<p>" + " hidden=" * 200_000,
    "svg": "<svg><style>" * 20_000,
    "white space": ("<b>" + " " * 50_000) * 40,
    "unclosed": "<table><tr><td>" * 20_000,
    "entities": "&amp;" * 500_000,
}
