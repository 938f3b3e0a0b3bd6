"""
A tool in Django, in one file, with the middleware of a new project; it posts its results with requests.
With CSRF=default its views keep Django's protection against forged forms, which refuses every invocation.
"""

import json
import os
import threading

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1", "localhost"],
    DEBUG=False,
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of a test",
)
django.setup()

from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402

from deliver import can_be_answered, deliver  # noqa: E402
from operations import toolset  # noqa: E402


def exempt(view):
    return view if os.environ.get("CSRF") == "default" else csrf_exempt(view)


def discovery(request):
    return JsonResponse(toolset("django-tool", request.build_absolute_uri("/invoke")))


@exempt
def invoke(request):
    try:
        invocation = json.loads(request.body)
    except ValueError:
        return HttpResponse(status=400)
    if can_be_answered(invocation):
        threading.Thread(target=deliver, args=(invocation,)).start()
    return HttpResponse()


@exempt
def notice(request):
    return HttpResponse()


urlpatterns = [
    path(".well-known/rap-toolset", discovery),
    path("invoke", invoke),
    path("close_thread", notice),
    path("cancel_tool_call", notice),
]

if __name__ == "__main__":
    server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
    server.set_app(WSGIHandler())
    print(json.dumps({"port": server.server_port}), flush=True)
    server.serve_forever()
