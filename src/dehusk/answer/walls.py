"""How pages that nobody wanted are called, and what they say, in many languages.

Longer than other modules, because languages are many. Everything is in small letters, with straight
apostrophes. Three lists for each kind:

    called   titles and headings: a piece of one has little beside it
    said     in a short text, and in nobody's content
    hints    in content too: they count beside other evidence only
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Words(Struct, frozen=True):
    """The words of one kind of page."""

    called: tuple[str, ...]
    said: tuple[str, ...]
    hints: tuple[str, ...]


def _phrases(written: str) -> tuple[str, ...]:
    """Phrases with bars or line ends between them."""
    pieces = written.replace("\n", "|").split("|")
    return tuple(filter(None, map(str.strip, pieces)))


BOT_WALL: Final = Words(
    called=_phrases("""
        just a moment | one moment please | attention required | access denied | forbidden
        403 forbidden | 403 access denied | error 403 | too many requests | 429 | security check
        security verification | request blocked | access blocked | you have been blocked
        robot check | are you a robot | are you human | human verification | bot verification
        browser check | browser verification | checking your browser | verify you are human
        verifying you are human | captcha | pardon our interruption | ddos protection
        client challenge | security checkpoint | einen moment bitte | zugriff verweigert
        zugriff gesperrt | sicherheitsüberprüfung | sicherheitsabfrage | bist du ein roboter
        sind sie ein mensch | accès refusé | accès interdit | accès bloqué
        vérification de sécurité | un instant | êtes-vous un robot | acceso denegado
        acceso prohibido | acceso bloqueado | un momento | verificación de seguridad
        eres un robot | eres humano | accesso negato | accesso bloccato | un attimo
        verifica di sicurezza | controllo di sicurezza | acesso negado | acesso bloqueado
        um momento | verificação de segurança | toegang geweigerd | een ogenblik geduld
        beveiligingscontrole | odmowa dostępu | brak dostępu | dostęp zabroniony | weryfikacja
        доступ запрещен | доступ запрещён | доступ ограничен | проверка безопасности
        проверка браузера | вы не робот | åtkomst nekad | adgang nægtet | tilgang nektet
        pääsy estetty | přístup odepřen | erişim engellendi | güvenlik kontrolü | تم رفض الوصول
        доступ заборонено | アクセスが拒否されました | アクセス拒否 | セキュリティチェック
        访问被拒绝 | 拒绝访问 | 安全验证 | 存取被拒 | 访问验证 | 人机验证 | 安全檢查
        접근이 거부되었습니다 | 접근 거부 | 보안 확인 | request could not be satisfied
        access to this page has been denied | you are unable to access | human check | bot check
        sind sie ein roboter
    """),
    said=_phrases("""
        verify you are human | verify that you are human | verify you're human
        verify that you're human | confirm you are human | confirm that you are human
        prove you are human | prove that you are human | confirm you're not a robot
        confirm that you are not a robot | verify you are not a robot
        making sure you're not a bot | make sure you are not a bot | make sure you're not a robot
        checking your browser | checking if the site connection is secure | verifying your browser
        verifies your browser | verifying that you are human | unusual traffic from
        unusual activity from your | suspicious activity from your | automated requests from
        automated access to this | detected automated | your request has been blocked
        your request was blocked | this request was blocked | your access has been blocked
        your ip address has been blocked | your ip has been blocked | you have been blocked
        you've been blocked | access to this page has been denied
        you don't have permission to access | you do not have permission to access
        complete the captcha | solve the captcha | complete the security check
        enter the characters you see | javascript and cookies to continue
        needs to review the security of your connection | you have sent too many requests
        you are sending too many requests | made too many requests
        not available in your region due to legal | dass sie kein roboter sind
        dass du kein roboter bist | dass sie ein mensch sind | dass es sich nicht um einen roboter
        ihr browser wird überprüft | ihr zugriff wurde blockiert | ihr zugriff wurde gesperrt
        ungewöhnlichen datenverkehr | zu viele anfragen von | que vous n'êtes pas un robot
        que vous êtes un humain | votre accès a été bloqué | votre requête a été bloquée
        vérification de votre navigateur | trafic inhabituel | que no eres un robot
        que no es un robot | que eres humano | su acceso ha sido bloqueado
        tu acceso ha sido bloqueado | comprobando su navegador | verificando su navegador
        tráfico inusual | che non sei un robot | di non essere un robot
        il tuo accesso è stato bloccato | traffico insolito | que você não é um robô
        que não é um robô | que você é humano | seu acesso foi bloqueado | tráfego incomum
        dat u geen robot bent | dat je geen robot bent | uw toegang is geblokkeerd
        że nie jesteś robotem | twój dostęp został zablokowany | подтвердите, что вы не робот
        подтвердите, что вы человек | что вы не робот | ваш ip-адрес заблокирован
        проверяем ваш браузер | подозрительный трафик | att du inte är en robot
        at du ikke er en robot | ettet ole robotti | že nejste robot | robot olmadığınızı
        insan olduğunuzu | أنك لست روبوت | що ви не робот | ロボットではないこと
        ロボットでないこと | 人間であることを確認 | ブラウザを確認しています | 证明您不是机器人
        确认您不是机器人 | 您是真人 | 请完成安全验证 | 请完成验证 | 检查您的浏览器
        確認您不是機器人 | 您的访问被阻断 | 로봇이 아님을 | 로봇이 아닙니다 | 사람인지 확인
        비정상적인 트래픽 | you are a human | you're a human | you are not a bot
        you're not a bot | you were a bot | you are a bot | disable any ad blocker
        enable javascript and cookies | request could not be satisfied
        protect itself from online attacks | security service to protect
        make sure you are not a robot | really you sending the requests | looks like a bot
        looks like automated | verdächtige aktivität | activité suspecte | actividad sospechosa
        attività sospetta
    """),
    hints=_phrases("""
        captcha | robot | robots | human | blocked | denied | automated | forbidden | verification
        challenge | gesperrt | blockiert | verweigert | überprüfung | bloqué | bloquée | refusé
        bloqueado | bloqueada | denegado | bloccato | negato | negado | geblokkeerd | zablokowany
        заблокирован | робот | ロボット | 拒否 | 验证 | 驗證 | 차단
    """),
)
CONSENT_WALL: Final = Words(
    called=_phrases("""
        before you continue | before continuing | we value your privacy | your privacy matters
        your privacy choices | manage your privacy | privacy preferences | cookie consent
        consent | cookie wall | cookie settings | we use cookies | we care about your privacy
        cookies | bevor sie fortfahren | bevor es weitergeht | ihre privatsphäre
        privatsphäre-einstellungen | datenschutzeinstellungen | cookie-einstellungen
        einwilligung | wir verwenden cookies | avant de continuer | votre vie privée
        gestion des cookies | nous respectons votre vie privée | antes de continuar
        tu privacidad | su privacidad | prima di continuare | la tua privacy
        voordat je verdergaat | voordat u verdergaat | je privacy | uw privacy
        cookie-instellingen | zanim przejdziesz dalej | twoja prywatność | ваша конфиденциальность
        din integritet | 続行する前に | 在继续之前 | 계속하기 전에 | weiter mit werbung
        weiter mit werbung oder im abo | mit werbung weiterlesen | mit werbung oder im abo
        wir brauchen ihre zustimmung | wir benötigen ihre zustimmung
        avec publicité ou abonnement | continuer sans accepter | continua con la pubblicità
        accetta o abbonati | jouw privacy | wij respecteren uw privacy | deine privatsphäre
        deine privatsphäre ist uns wichtig | ihre privatsphäre ist uns wichtig
        la tua privacy è importante | your choices | your data your choice | votre choix
        tus datos
    """),
    said=_phrases("""
        accept all | accept cookies | accept & continue | accept and continue | agree and continue
        i agree | reject all | i accept | agree to all | manage options | agree & continue
        yes, i agree | alle akzeptieren | alles akzeptieren | akzeptieren und weiter
        zustimmen und weiter | alle ablehnen | alle cookies akzeptieren | ich stimme zu
        zustimmen | tout accepter | accepter et continuer | tout refuser | j'accepte
        accepter et fermer | aceptar todo | aceptar y continuar | rechazar todo | acepto | aceptar
        accetta tutto | accetta e continua | rifiuta tutto | accetto | accetta | aceitar tudo
        aceitar e continuar | rejeitar tudo | aceito | alles accepteren | alle cookies accepteren
        akkoord | alles weigeren | akceptuję | zaakceptuj wszystko | принять все | принимаю
        согласен | godkänn alla | acceptér alle | godta alle | hyväksy kaikki | přijmout vše
        tümünü kabul et | すべて同意 | 同意する | 全部接受 | 모두 동의 | 接受全部
        continue with ads | mit werbung weiter | i consent | einverstanden
    """),
    hints=_phrases("""
        cookie | cookies | consent | our partners | personal data | unsere partner | einwilligung
        personenbezogene | nos partenaires | consentement | données personnelles | nuestros socios
        consentimiento | datos personales | nostri partner | consenso | dati personali
        nossos parceiros | consentimento | dados pessoais | onze partners | toestemming
        naszymi partnerami | zgody | zgodę | dane osobowe | согласие | クッキー | 同意 | 쿠키
        동의 | personalised ads | personalized ads | vendors | partnern | personalisierte werbung
        publicités personnalisées | anuncios personalizados
    """),
)
"""What is said here are buttons: a consent wall has one of them, and a hint."""
LOGIN_WALL: Final = Words(
    called=_phrases("""
        log in | login | log in to continue | log in to your account | sign in | signin
        sign in to continue | sign in to your account | member login | members only
        account login | user login | log on | login required | please log in | please sign in
        welcome back | authentication required | log in or sign up | authorization required
        single sign-on | sign in or create an account | 401 unauthorized | unauthorized | anmelden
        anmeldung | einloggen | bitte anmelden | bitte melden sie sich an | anmeldung erforderlich
        connexion | se connecter | connectez-vous | identifiez-vous | identification
        s'identifier | iniciar sesión | inicia sesión | inicie sesión | acceder | accedi | accesso
        effettua il login | iniciar sessão | entrar | fazer login | faça login | inloggen
        log in op je account | zaloguj się | logowanie | вход | войти | авторизация
        вход в систему | logga in | log ind | logg inn | kirjaudu sisään | přihlášení
        přihlásit se | giriş yap | تسجيل الدخول | увійти | ログイン | サインイン | 登录 | 登入
        登錄 | 로그인
    """),
    said=_phrases("""
        you must be logged in to | you must log in to | you need to log in to
        you need to be logged in | you have to log in | you have to be logged in
        please log in to continue | please login to continue | please sign in to continue
        sign in to continue | log in to continue | log in to view | sign in to view
        login to view | login is required | you must sign in to | you need to sign in to
        only registered users can | only available to members | available to registered users
        available to members only | only logged in users | this content is for members
        for members only | sie müssen sich anmelden | sie müssen angemeldet sein
        du musst dich anmelden | du musst angemeldet sein | bitte melden sie sich an, um
        bitte melde dich an, um | nur für registrierte | nur für angemeldete
        vous devez être connecté | vous devez vous connecter | connectez-vous pour
        veuillez vous connecter | debes iniciar sesión | debe iniciar sesión | inicia sesión para
        inicie sesión para | tienes que iniciar sesión | devi effettuare l'accesso | devi accedere
        accedi per | effettua il login per | você precisa fazer login | você precisa estar logado
        faça login para | precisa de iniciar sessão | u moet ingelogd zijn | je moet ingelogd zijn
        u moet inloggen | je moet inloggen | log in om | musisz się zalogować
        musisz być zalogowany | zaloguj się, aby | необходимо войти | войдите, чтобы
        необходимо авторизоваться | требуется авторизация | du måste logga in
        du måste vara inloggad | du skal logge ind | du må logge inn | sinun on kirjauduttava
        musíte se přihlásit | giriş yapmanız gerekiyor | giriş yapmalısınız | يجب تسجيل الدخول
        потрібно увійти | ログインしてください | ログインが必要です | 请先登录 | 请登录后
        需要登录 | 您需要登录 | 您需要登錄 | 請先登入 | 로그인이 필요합니다 | 로그인 후 이용
        로그인해 주세요 | login to continue | login to access
        log in to access | sign in to access | must log in to view | must be logged in to view
        must be logged in to access | must be signed in | need to be signed in
        you are not logged in | you're not logged in | join or log in
        registered and logged in to | create a free account to read | create an account to read
        you need an account to | register to continue | register to read | sign up to read
        sign up to continue | kostenlos registrieren, um | inscrivez-vous pour lire
        regístrate para
    """),
    hints=_phrases("""
        password | log in | sign in | login | passwort | kennwort | anmelden | mot de passe
        connexion | contraseña | iniciar sesión | accedi | senha | palavra-passe | wachtwoord
        inloggen | hasło | zaloguj | пароль | войти | lösenord | adgangskode | salasana | heslo
        şifre | كلمة المرور | パスワード | 密码 | 密碼 | 비밀번호
    """),
)
PAYWALL: Final = Words(
    called=_phrases("""
        subscribe to continue | subscribe to read | subscribe to continue reading
        subscribers only | subscriber exclusive | subscription required | premium content
        jetzt abonnieren und weiterlesen | nur für abonnenten | article réservé aux abonnés
        réservé aux abonnés | solo para suscriptores | contenuto riservato agli abbonati
        exclusivo para assinantes
    """),
    said=_phrases("""
        subscribe to continue reading | subscribe to read the full | subscribe to read this
        subscribe to keep reading | to continue reading, subscribe
        to continue reading this article | to read the full story, subscribe
        to read the full article | want to read the rest of this | this article is for subscribers
        this article is only available to subscribers | this content is for subscribers
        this story is for subscribers | available to subscribers only
        only available to subscribers | exclusive to subscribers | exclusively for subscribers
        this post is for paid subscribers | this post is for paying subscribers
        for paid subscribers | reached your limit of free articles
        reached your free article limit | your last free article | no free articles left
        unlock this article | unlock the full article | already a subscriber? log in
        already a subscriber? sign in | start your free trial to read
        become a subscriber to read | diesen artikel weiterlesen | jetzt weiterlesen mit
        weiterlesen mit einem abo | nur für abonnenten | dieser artikel ist für abonnenten
        sie haben bereits ein abo | lesen sie diesen artikel mit | artikel freischalten
        bereits abonnent? | cet article est réservé aux abonnés | article réservé aux abonnés
        réservé à nos abonnés | la suite est réservée | il vous reste à lire
        abonnez-vous pour lire | pour lire la suite | suscríbete para leer
        suscríbete para seguir leyendo | suscríbase para seguir leyendo | solo para suscriptores
        exclusivo para suscriptores | para seguir leyendo | abbonati per leggere
        abbonati per continuare | riservato agli abbonati | per continuare a leggere
        assine para continuar | assine para ler | exclusivo para assinantes
        conteúdo exclusivo para assinantes | word abonnee om verder te lezen
        abonneer je om verder te lezen | verder lezen? | alleen voor abonnees
        pozostało do przeczytania | dostęp tylko dla prenumeratorów | wykup subskrypcję
        доступно только подписчикам | только для подписчиков | оформите подписку, чтобы
        bli prenumerant för att läsa | för dig som är prenumerant | for abonnenter
        vain tilaajille | předplatné, abyste | pouze pro předplatitele | sadece aboneler
        للمشتركين فقط | 有料会員限定 | この記事は有料 | 会員限定記事 | 残り文字 | 订阅后阅读
        订阅用户专享 | 付费内容 | 訂閱以繼續 | 구독자 전용 | 유료 회원 전용
        continue reading, subscribe | keep reading for | to keep reading | subscribe now to read
        to read this article | subscribers get full access
        read the full story with a subscription | bereits abonnent | weiterlesen mit
        mit einem abo weiterlesen | jetzt abonnieren und weiterlesen | déjà abonné
        ya eres suscriptor | già abbonato | al abonnee | já é assinante | już prenumerujesz
        read all your free | used all your free | free stories this month
        free articles this month | free articles left | become a member to read
        become a member to continue | support us to continue
    """),
    hints=_phrases("""
        subscribe | subscriber | subscribers | subscription | abonnieren | abonnenten | abonnement
        abonnés | abonné | suscríbete | suscriptores | suscripción | abbonati | abbonamento
        assine | assinantes | prenumerata | подписка | подписку | prenumerera | tilaajille
        předplatné | abone | 購読 | 有料 | 订阅 | 訂閱 | 구독
    """),
)
SOFT_404: Final = Words(
    called=_phrases("""
        404 | error 404 | 404 error | 404 not found | not found | page not found | file not found
        http 404 | 404 page not found | page can't be found | page cannot be found
        page could not be found | page couldn't be found | page doesn't exist
        page does not exist | page no longer exists | page not available | page is not available
        page unavailable | page isn't available | missing page | content not found
        article not found | we can't find that page | we couldn't find that page
        that page can't be found | this page can't be found | this page could not be found
        this page doesn't exist | the page you were looking for doesn't exist | not found (404)
        the page you requested was not found | the page you requested could not be found | gone
        410 gone | the requested url was not found on this server | no such page | post not found
        product not found | topic not found | resource not found | this page isn't available
        listing not found | seite nicht gefunden | nicht gefunden | seite wurde nicht gefunden
        seite existiert nicht | fehler 404 | 404 fehler | diese seite existiert nicht
        artikel nicht gefunden | seite nicht verfügbar | die seite wurde nicht gefunden
        die angeforderte seite wurde nicht gefunden | page introuvable | page non trouvée
        erreur 404 | cette page n'existe pas | page inexistante | cette page est introuvable
        la page demandée n'existe pas | página no encontrada | no encontrado | la página no existe
        página no existe | esta página no existe | no se encontró la página
        no se ha encontrado la página | pagina non trovata | errore 404 | la pagina non esiste
        pagina inesistente | questa pagina non esiste | página não encontrada | erro 404
        não encontrado | a página não existe | esta página não existe | pagina niet gevonden
        niet gevonden | fout 404 | deze pagina bestaat niet | strona nie została znaleziona
        nie znaleziono strony | nie znaleziono | błąd 404 | strona nie istnieje
        страница не найдена | не найдено | ошибка 404 | такой страницы нет
        страница не существует | sidan hittades inte | sidan kunde inte hittas
        siden blev ikke fundet | siden ble ikke funnet | siden finnes ikke | siden findes ikke
        sivua ei löydy | sivua ei löytynyt | stránka nenalezena | stránka nebyla nalezena
        chyba 404 | sayfa bulunamadı | الصفحة غير موجودة | сторінку не знайдено
        az oldal nem található | pagina nu a fost găsită | η σελίδα δεν βρέθηκε
        ページが見つかりません | ページが見つかりませんでした | お探しのページは見つかりません
        页面不存在 | 页面未找到 | 找不到页面 | 找不到頁面 | 頁面不存在 | 您访问的页面不存在
        페이지를 찾을 수 없습니다 | 존재하지 않는 페이지 | halaman tidak ditemukan
        không tìm thấy trang | oldal nem található | pagina nu există | pagina negăsită | 404 fel
        hittade inte sidan | nothing was found | nothing found here | page missing | page gone
        product no longer available | no longer available | nicht mehr verfügbar | http status 404
    """),
    said=_phrases("""
        page you are looking for | page you were looking for | page you're looking for
        page you requested | the page you have requested | page you tried to
        that page can't be found | this page can't be found | this page doesn't exist
        this page does not exist | page does not exist | page doesn't exist
        page no longer exists | page has been removed or | page could not be found
        page cannot be found | page was not found | the requested page
        requested url was not found | the page may have been moved | we can't find the page
        we couldn't find the page | we couldn't find that page | we can't find that page
        the link you followed may be broken | this content is no longer available
        has been deleted or moved | has been moved or deleted | moved, renamed or deleted
        article is no longer available | this listing is no longer available
        this listing has expired | job is no longer available | die gesuchte seite
        die von ihnen gesuchte seite | die angeforderte seite | die aufgerufene seite
        diese seite existiert nicht | seite wurde nicht gefunden
        seite konnte nicht gefunden werden | seite ist nicht mehr verfügbar
        diese seite gibt es nicht | la page que vous recherchez | la page que vous cherchez
        la page demandée | cette page n'existe | n'existe plus ou | la página que buscas
        la página que busca | la página que está buscando | la página solicitada
        esta página no existe | ya no está disponible | la pagina che stai cercando
        la pagina che cerchi | la pagina richiesta | questa pagina non esiste
        a página que procura | a página que você procura | a página que você está procurando
        página solicitada | de pagina die u zoekt | de pagina die je zoekt | de opgevraagde pagina
        deze pagina bestaat niet | strona, której szukasz | szukana strona
        podana strona nie istnieje | страница, которую вы ищете | запрашиваемая страница
        запрошенная страница | такой страницы не существует | страница была удалена
        sidan du letar efter | sidan du söker | siden du leder efter | siden du leter etter
        etsimääsi sivua | stránka, kterou hledáte | požadovaná stránka | aradığınız sayfa
        الصفحة التي تبحث عنها | сторінка, яку ви шукаєте | お探しのページ | 指定されたページ
        您访问的页面 | 您要找的页面 | 您要查找的页面 | 您要找的頁面 | 내용을 찾을 수 없습니다
        요청하신 페이지 | 찾으시는 페이지 | nothing was found at this location
        find the page you're | find the page you are | product is no longer available
        item is no longer available | page is no longer available | offer is no longer available
        ad is no longer available | event is no longer available | position is no longer available
        find that page | the page you want | page you are trying to | wanted page
        nicht mehr verfügbar | n'est plus disponible | non è più disponibile
        não está mais disponível | niet meer beschikbaar | halaman yang anda cari
        trang bạn đang tìm | a keresett oldal | pagina pe care o căutați | target resource
        page may have been taken down | page has been taken down | may have been removed or
        job has expired | job posting has expired | listing has expired | offer has expired
        no longer accepts applications | no longer accepting applications
    """),
    hints=_phrases("""
        404 | not found | does not exist | doesn't exist | no longer available | removed
        nicht gefunden | existiert nicht | introuvable | n'existe pas | no encontrada | no existe
        non trovata | não encontrada | niet gevonden | nie znaleziono | не найдена | hittades inte
        見つかりません | 不存在 | 找不到 | 찾을 수 없
    """),
)
ERROR_PAGE: Final = Words(
    called=_phrases("""
        500 | 502 | 503 | 504 | error | server error | internal server error
        500 internal server error | bad gateway | 502 bad gateway | service unavailable
        503 service unavailable | gateway timeout | 504 gateway timeout
        service temporarily unavailable | temporarily unavailable | application error
        database error | error establishing a database connection | something went wrong
        runtime error | under maintenance | site under maintenance | scheduled maintenance
        down for maintenance | maintenance mode | site maintenance | we'll be back soon
        web server is down | this site can't be reached | account suspended
        this account has been suspended | site offline | website suspended
        bandwidth limit exceeded | fatal error | an error occurred | an error has occurred
        fehler | interner serverfehler | wartungsarbeiten | wartungsmodus
        ein fehler ist aufgetreten | erreur | erreur interne du serveur | site en maintenance
        une erreur est survenue | error interno del servidor | sitio en mantenimiento
        en mantenimiento | algo salió mal | ha ocurrido un error | errore
        errore interno del server | sito in manutenzione | si è verificato un errore
        erro interno do servidor | site em manutenção | algo deu errado | ocorreu um erro
        er is iets misgegaan | onderhoud | przerwa techniczna | wystąpił błąd | ошибка сервера
        технические работы | произошла ошибка | ett fel har inträffat | der opstod en fejl
        bakım çalışması | メンテナンス中 | エラーが発生しました | サーバーエラー | 系统维护中
        服务器错误 | 系统错误 | 서버 오류 | 점검 중 | critical error
        site temporarily unavailable | site unavailable | site down | technical difficulties
        we'll be right back | coming back soon | suspended | domain suspended
    """),
    said=_phrases("""
        the server encountered an internal error | server is temporarily unable to service
        encountered an error processing your request | an internal server error
        internal server error | error establishing a database connection
        could not connect to the database | down for scheduled maintenance | down for maintenance
        performing scheduled maintenance | currently undergoing maintenance
        undergoing scheduled maintenance | briefly unavailable
        we are currently performing maintenance | please try again in a few minutes
        something went wrong on our | we are having technical difficulties
        experiencing technical difficulties | this account has been suspended
        an error occurred while processing your request | an unexpected error occurred
        an unexpected error has occurred | ein unerwarteter fehler | wegen wartungsarbeiten
        wir führen gerade wartungsarbeiten | une erreur inattendue | en cours de maintenance
        un error inesperado | tareas de mantenimiento | un errore imprevisto | un erro inesperado
        een onverwachte fout | nieoczekiwany błąd | ведутся технические работы
        непредвиденная ошибка | ただいまメンテナンス | システムエラーが発生 | 系统正在维护
        服务器内部错误 | 일시적인 오류 | critical error on this website | is currently unavailable
        is temporarily unavailable | temporarily down | contact your hosting provider
        unable to complete your request | we are experiencing an error | unerwarteter fehler ist
        ist vorübergehend nicht | est temporairement indisponible
        no está disponible temporalmente | è temporaneamente non disponibile
    """),
    hints=_phrases("""
        try again later | try again | maintenance | temporarily | später erneut | wartung
        réessayer | inténtelo | mantenimiento | riprova | manutenzione | tente novamente
        manutenção | probeer het | spróbuj ponownie | попробуйте позже | försök igen
        メンテナンス | 维护 | 維護 | 稍后再试 | 점검
    """),
)
EMPTY_SEARCH: Final = Words(
    called=_phrases("""
        no results | no results found | nothing found | 0 results | 0 results found
        no search results | no matches | no matches found | no matching results
        your search returned no results | sorry no results | we found no results | no items found
        no products found | no posts found | keine ergebnisse | keine ergebnisse gefunden
        keine treffer | nichts gefunden | 0 treffer | aucun résultat | aucun résultat trouvé
        sin resultados | no hay resultados | no se encontraron resultados | nessun risultato
        nessun risultato trovato | nenhum resultado | nenhum resultado encontrado | sem resultados
        geen resultaten | geen resultaten gevonden | brak wyników | nie znaleziono wyników
        ничего не найдено | нет результатов | inga resultat | inga träffar | ingen resultater
        ei tuloksia | žádné výsledky | sonuç bulunamadı | لا توجد نتائج | нічого не знайдено
        検索結果はありません | 検索結果0件 | 没有找到相关结果 | 未找到结果 | 無搜尋結果
        검색 결과가 없습니다
    """),
    said=_phrases("""
        your search did not match any | did not match any documents | did not match any products
        did not match any results | no results were found | no results found for
        there are no results for | we couldn't find any results | we could not find any results
        we found 0 results | we couldn't find anything matching | nothing matched your search
        no items match your search | no products were found matching | no matches were found for
        search returned no results | returned 0 results | couldn't find any matches
        try a different search | try another search term | leider keine ergebnisse
        wurden keine ergebnisse gefunden | keine ergebnisse für | keine treffer für
        brachte keine ergebnisse | ergab keine treffer | aucun résultat pour
        n'a donné aucun résultat | aucun résultat ne correspond | no se han encontrado resultados
        no se encontraron resultados | no hemos encontrado resultados | ningún resultado para
        nessun risultato per | non ha prodotto risultati | nessun risultato trovato per
        nenhum resultado para | não encontramos resultados | não retornou resultados
        geen resultaten voor | niets gevonden voor | leverde geen resultaten | brak wyników dla
        nie znaleziono wyników | по вашему запросу ничего не | ничего не найдено по
        inga resultat för | gav inga träffar | ingen resultater for | ei tuloksia haulle
        nebyly nalezeny žádné | için sonuç bulunamadı | لم يتم العثور على نتائج
        за вашим запитом нічого | に一致する情報は見つかりません | に一致する検索結果
        検索結果が見つかりません | 没有找到与 | 没有找到符合 | 未找到与 | 找不到符合
        에 대한 검색 결과가 없습니다 | 검색결과가 없습니다 | returned no results | no results for
        0 results for | no results match | nothing matches your search | no matching results
        no products match | no posts match | no articles found | no items found
        keine suchergebnisse | keine produkte gefunden | aucun produit
        ningún producto coincide | nessun prodotto
        we found nothing for | found nothing for | geen resultaten gevonden | nichts gefunden für
        rien trouvé pour
    """),
    hints=_phrases("""
        no results | 0 results | no matches | keine ergebnisse | keine treffer | aucun résultat
        sin resultados | nessun risultato | nenhum resultado | geen resultaten | brak wyników
        ничего не найдено | 0件 | 검색 결과가
    """),
)
WALLS: Final = {
    "soft_404": SOFT_404,
    "bot_wall": BOT_WALL,
    "consent_wall": CONSENT_WALL,
    "login_wall": LOGIN_WALL,
    "paywall": PAYWALL,
    "empty_search": EMPTY_SEARCH,
    "error_page": ERROR_PAGE,
}
"""The words by the name of the problem."""
NOT_WALLS: Final = _phrases("""
    comment | reply | review | kommentar | kommentier | antworten | bewert | commentaire
    commenter | répondre | comentar | comentario | responder | commenta | rispondere | reageren
    reactie | komentarz | komentować | коммент | ответить | kommentera | コメント | 评论 | 評論
    回复 | 回覆 | 댓글
""")
"""What one may have to log in for on a page that can be read."""
CHALLENGES: Final = (
    b"_cf_chl_opt", b"/_Incapsula_Resource", b"captcha-delivery.com", b"gokuProps",
    b"sucuri_cloudproxy_js", b"check.ddos-guard.net", b"anubis_challenge", b"/sec_cpt/",
    b"px-captcha", b"cf-challenge-running",
)  # fmt: skip
"""What the source of a challenge has, and that of no other page that shows next to nothing."""
CAPTCHAS: Final = (
    b"recaptcha",
    b"hcaptcha",
    b"cf-turnstile",
    b"geetest",
    b"captcha",
    b"awswaf.com",
)
"""What other pages have as well, for their forms."""
