"""Words of many languages that say the same.

A word that stands on too few sites to tell something by itself tells what the others of its kind
tell together, so that 'komentarze' is known where only 'comments' was met often.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = {
    "comment": (
        "comment comments reply replies respond discussion disqus guestbook feedback"
        " kommentar kommentare kommentarer kommentit kommentti kommentieren antwort antworten"
        " beitraege leserkommentare komentarz komentarze komentarzy komentarzach opinia"
        " opinie opinii commentaire commentaires avis reponse reponses comentario comentarios"
        " respuesta respuestas comentarii commento commenti risposta risposte reactie"
        " reacties reageer komentar komentari komentare koment komenty diskuse diskuze"
        " diskusia hozzaszolas hozzaszolasok yorum yorumlar kommentarii kommentariy otzyv"
        " otzyvy pinglun huifu liuyan"
    ),
    "related": (
        "related recommended similar relacionado relacionados relacionadas correlati"
        " correlato verwandt verwandte aehnlich aehnliche weitere mehr passend empfehlung"
        " empfehlungen empfohlen lees meer gerelateerd gerelateerde aanbevolen podobne"
        " powiazane polecane polecamy zobacz czytaj inne artykuly similaires connexes liens"
        " suggestions recommandes destacados interesar anche leggi souvisejici dalsi"
        " suvisiace relaterte relaterede relaterade lue myos ilgili benzer pohozhie pohojie"
        " xiangguan tuijian"
    ),
    "popular": (
        "popular trending topstories meistgelesen beliebt beliebte meistgelesene populaer"
        " populair najczesciej popularne najnowsze najpopularniejsze populaires masleido"
        " masleidas leidas vistos piuletti nejctenejsi najcitanejsie mestlest mestlaest"
        " luetuimmat cokokunan populyarnoe remen paihang"
    ),
    "share": (
        "share sharing social teilen partager compartir condividi delen udostepnij podziel"
        " sdilet zdielat dela compartilhar paylas podelitsya fenxiang"
    ),
    "navigation": (
        "nav menu navigation navigacija navigazione navegacion navegacao menue hauptmenu"
        " nawigacja menyu seitennavigation brotkrumen breadcrumb breadcrumbs okruszki migas"
        " fil ariane kruimelpad drobecky daohang mianbaoxie"
    ),
    "footer": (
        "footer foot fuss fusszeile fussbereich stopka pied pie rodape voettekst paticka pata dibu"
    ),
    "header": (
        "header masthead kopf kopfzeile kopfbereich naglowek entete cabecera cabecalho"
        " testata zahlavi hlavicka"
    ),
    "side": (
        "sidebar aside seitenleiste randspalte marginalspalte rechts links prawa lewa kolumna"
        " kolonne spalte droite gauche colonne derecha izquierda columna destra sinistra"
        " colonna"
    ),
    "subscribe": (
        "subscribe newsletter abo abonnieren abonnement biuletyn zapisz suscribete"
        " suscripcion boletin iscriviti inschrijven nieuwsbrief prenumerera odber"
    ),
    "advertising": (
        "ad ads advert advertisement sponsor sponsored werbung anzeige anzeigen reklama"
        " reklamy reklame publicite publicidad publicidade pubblicita advertentie annons"
        " guanggao"
    ),
    "about": (
        "byline author autor autorin autoren auteur auteurs autore autorzy redakcja redaktion"
        " redaction redaccion verfasser schrijver forfatter kirjoittaja avtor zuozhe datum"
        " data fecha dato godzina"
    ),
    "content": (
        "content article artikel artikeltext beitrag inhalt text tresc artykul contenu texte"
        " corps contenido articulo noticia nota cuerpo contenuto articolo testo inhoud"
        " bericht tekst obsah clanek clanok innhold innehall sisalto icerik haber statya"
        " kontent zhengwen neirong wenzhang"
    ),
    "form": (
        "form formular formularz formulaire formulario suche suchen szukaj wyszukiwarka"
        " recherche buscar busqueda cerca zoeken hledat hledani sok haku ara poisk sousuo"
        " anmelden anmeldung zaloguj logowanie connexion"
    ),
}
"""In class, id, role and itemprop."""

TEXTS: Final = {
    "comment": (
        "comment comments reply kommentar kommentare kommentieren antworten kommentarer"
        " komentarz komentarze komentarzy komentuj odpowiedz skomentuj commentaire"
        " commentaires répondre comentario comentarios comentar responder comentários"
        " commenta commenti rispondi reactie reacties reageer komentáře komentář diskuse"
        " odpovědět komentár komentáre svara svar kommentti kommentit vastaa hozzászólás"
        " hozzászólások yorum yorumlar cevapla комментарий комментарии комментариев"
        " комментировать ответить отзывы коментарі коментарів відповісти σχόλια σχόλιο"
        " απάντηση komentari comentarii răspunde 评论 留言 回复 发表评论 网友评论 我要评论"
        " 回覆 發表評論 留言板 コメント 返信 댓글 답글 تعليق تعليقات رد تגובות תגובה הגב"
    ),
    "related": (
        "related recommended similar verwandte ähnliche weitere empfehlungen passend"
        " lesetipps gerelateerd aanbevolen podobne powiązane polecane polecamy zobacz czytaj"
        " przeczytaj również similaires connexes lire aussi relacionados relacionadas"
        " relacionado relacionada interesar leia também correlati leggi anche související"
        " podobné další súvisiace relaterade relaterte relaterede läs också lue myös ilgili"
        " benzer похожие связанные рекомендуем материалы теме читайте также схожі σχετικά"
        " σχετικές διαβάστε επίσης povezane similare 相关新闻 相关文章 相关阅读 相关链接"
        " 相关报道 推荐阅读 延伸閱讀 相關新聞 相關文章 関連記事 おすすめ 관련기사 관련 مواضيع"
        " ذات صلة المزيد"
    ),
    "popular": (
        "popular trending meistgelesen beliebt meist populair najczęściej czytane popularne"
        " najnowsze populaires leídas visto leídos lidas letti nejčtenější populära"
        " luetuimmat популярное самое читаемое новости δημοφιλή 热门 排行 热点 熱門 人気"
        " ランキング 인기 الأكثر קריאה"
    ),
    "share": (
        "share teilen partager compartir condividi delen udostępnij podziel sdílet zdieľať"
        " dela del compartilhar partilhar jaa paylaş поделиться поширити κοινοποίηση podijeli"
        " distribuie 分享 分享到 シェア 공유 مشاركة شارك שתף"
    ),
    "more": (
        "more mehr lesen weiterlesen meer więcej dalej suite más leer continua leggi mais"
        " více čítať läs mera lisää devamı подробнее далее читать περισσότερα 更多 更多详情"
        " 続きを読む もっと見る 더보기 المزيد עוד"
    ),
    "about": (
        "author autor autorin auteur autore redaktion redakcja von przez av yazar автор"
        " συντάκτης 作者 编辑 责任编辑 来源 記者 編輯 著者 기자 الكاتب כתב"
    ),
    "subscribe": (
        "subscribe newsletter abonnieren anmelden zapisz subskrybuj abonner inscrivez"
        " suscríbete suscribirse iscriviti inschrijven nieuwsbrief přihlásit odebírat"
        " prenumerera tilaa подписаться подписка εγγραφή assinar 订阅 订阅我们 購読 구독"
    ),
    "account": (
        "login anmelden registrieren einloggen zaloguj zarejestruj connexion inscription"
        " acceder registrarse accedi registrati inloggen aanmelden přihlášení registrace"
        " logga kirjaudu giriş войти регистрация σύνδεση 登录 注册 登入 註冊 ログイン 로그인"
        " 회원가입 تسجيل התחבר"
    ),
    "legal": (
        "privacy cookies terms datenschutz impressum agb prywatności regulamin"
        " confidentialité mentions légales privacidad aviso legal termini colofon ochrana"
        " údajů integritetspolicy gizlilik конфиденциальности правила 版权所有 隐私 免责声明"
        " 關於我們 关于我们 联系我们 利用規約 개인정보처리방침 الخصوصية פרטיות"
    ),
    "advertising": (
        "advertisement sponsored werbung anzeige reklama publicité publicidad publicidade"
        " pubblicità advertentie annons mainos реклама διαφήμιση 广告 廣告 広告 광고 إعلان"
        " פרסומת"
    ),
    "paging": (
        "next previous weiter zurück nächste vorherige następny poprzedni następna poprzednia"
        " suivant précédent siguiente anterior successivo precedente volgende vorige další"
        " předchozí nästa föregående seuraava edellinen sonraki önceki следующая предыдущая"
        " вперед назад επόμενο προηγούμενο próximo 下一页 上一页 下一篇 上一篇 次へ 前へ 다음"
        " 이전 التالي السابق"
    ),
}
"""In short texts."""
