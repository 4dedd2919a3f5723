"""The language of a text that its page does not state."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dehusk
from dehusk.answer.languages import language_of

FIXED = settings(derandomize=True, deadline=None)
GERMAN = (
    "Die Mühle steht nicht am Teich, sie wird aber auch von dem Bach getrieben, und das Rad ist"
)
ENGLISH = (
    "The mill is not at the pond, but it was driven by the brook that you have seen from here."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ENGLISH, "en"),
        (f"{GERMAN} neu.", "de"),
        ("Le moulin n'est pas dans le village, il est sur la rive avec une roue qui tourne.", "fr"),
        ("El molino no está en el pueblo, pero es muy viejo y también la rueda es de los.", "es"),
        ("O moinho não está na aldeia, mas é muito antigo e também a roda foi feita em uma.", "pt"),
        (
            "Il mulino non è nel paese, ma è anche più antico della ruota che gli è stata data.",
            "it",
        ),
        (
            "De molen staat niet in het dorp, maar wordt ook door een beek gedreven met het rad.",
            "nl",
        ),
        ("Kvarnen är inte i byn, men den har ett hjul som drivs av bäcken och det är en ny.", "sv"),
        (
            "Kvernen er ikke i bygda, og hjulet har noe å dreie på, som ble nytt etter flommen.",
            "no",
        ),
        ("Młyn nie jest we wsi, ale koło jest nowe i tak się to od strumienia obraca już.", "pl"),
        (
            "Mlýn není ve vsi, ale kolo je nové a také se točí, když je voda podle jezu pro nás.",
            "cs",
        ),
        ("Değirmen köyde değil, ama çok eski ve dere için bir çark daha olan bu yer gibi.", "tr"),
        (
            "Мельница стоит не в деревне, но это колесо было ещё у них, и мы бы его так же взяли.",
            "ru",
        ),
        (
            "Млин стоїть не в селі, але це колесо вже було тут, і він має його та ще один для нас.",
            "uk",
        ),
        ("Ο μύλος δεν είναι στο χωριό, αλλά ο τροχός είναι καινούργιος και γυρίζει με νερό.", "el"),
        ("الطاحونة ليست في القرية، لكن العجلة التي كانت على النهر هي من بعد ذلك كل هذا", "ar"),
        ("पनचक्की गाँव में नहीं है, पर यह पहिया नया है और पानी से चलता है, इस को एक ने देखा था", "hi"),
        ("水車小屋は村にはありませんが、車輪は新しく、小川の水で回っています。", "ja"),
        ("磨坊不在村子里，轮子是新的，由小溪的水带动，每天早上转动。", "zh"),
        ("방앗간은 마을에 없지만 바퀴는 새것이고 개울물로 매일 아침 돌아갑니다.", "ko"),
    ],
)
def test_a_text_is_in_its_language(text: str, expected: str) -> None:
    assert language_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The mill",
        "8,217 × 9 = 73,953 " * 20,
        "def turn wheel return water flow rate depth width pond basin gate spill level mill stone",
        "Kvernen Kværnen " * 10,
        "磨坊",
        "Мельница Мюле moulin mill μύλος " * 5,
    ],
)
def test_a_text_that_may_be_in_several_languages_is_in_none(text: str) -> None:
    assert language_of(text) is None


def test_a_page_that_states_no_language_has_that_of_its_content() -> None:
    page = f"<h1>Mühle</h1><p>{GERMAN} neu.</p>"
    assert dehusk.extract(page).lang == "de"
    assert dehusk.extract(page).to_json()["lang"] == "de"
    assert dehusk.extract("<h1>Mill</h1>").to_json()["lang"] is None


def test_a_stated_language_is_believed() -> None:
    assert dehusk.extract(f"<html lang=gsw><h1>Mühle</h1><p>{GERMAN} neu.</p>").lang == "gsw"


@FIXED
@given(st.text())
def test_no_text_breaks_the_search_for_its_language(text: str) -> None:
    assert language_of(text) is None or language_of(text + text)
