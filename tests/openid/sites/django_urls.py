"""The pages of the site in django_site.py."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import include, path
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import OIDCAuthenticationRequestView, OIDCLogoutView


class Backend(OIDCAuthenticationBackend):
    """The library's view, which also shows the claims."""

    def get_userinfo(self, access_token, id_token, payload):
        claims = super().get_userinfo(access_token, id_token, payload)
        self.request.session['claims'] = {**payload, 'userinfo': claims}
        return claims


def logout_url(request: HttpRequest) -> str:
    hint = request.session['oidc_id_token']
    return f'{settings.END_SESSION}?{urlencode({"id_token_hint": hint, "post_logout_redirect_uri": f"{settings.ORIGIN}/"})}'


def login(request: HttpRequest) -> HttpResponse:
    reply = OIDCAuthenticationRequestView.as_view()(request)
    if request.GET.get('spoil') == 'nonce':
        for state in request.session['oidc_states'].values():
            state['nonce'] = 'another'
        request.session.modified = True
    return reply


def home(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        return HttpResponse('nobody', status=401)
    return JsonResponse({**request.session['claims'], 'id': request.user.pk, 'found_by': request.user.email})


def age(request: HttpRequest) -> HttpResponse:
    """Expires the login, so that the site renews it without a page before its next response."""
    request.session['oidc_id_token_expiration'] = 0
    return redirect('/')


def refuse(_: HttpRequest, exception: Exception) -> HttpResponse:
    return HttpResponse(str(exception), status=400)


handler400 = refuse
urlpatterns = [
    path('', home),
    path('failed', lambda _: HttpResponse('the login failed', status=401)),
    path('login', login),
    path('age', age),
    path('logout', OIDCLogoutView.as_view()),
    path('oidc/', include('mozilla_django_oidc.urls')),
]
