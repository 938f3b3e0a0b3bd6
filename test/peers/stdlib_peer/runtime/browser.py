"""A person who follows a link and presses a button, with what a browser sends for it."""

import re
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

from ..web import request

NAVIGATION = {
    "accept": "text/html,application/xhtml+xml,*/*;q=0.8",
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "sec-fetch-user": "?1",
}
REFUSES = re.compile(r"refus|den[iy]|reject|declin|disallow|cancel|\bno\b|\bnot\b", re.IGNORECASE)
GRANTS = re.compile(r"grant|allow|authori[sz]e|approve|accept|agree|consent|yes", re.IGNORECASE)


def visit(auth_url, decision):
    """(status of the page, status of what the button led to)"""
    page, headers, html = request(auth_url, {**NAVIGATION, "sec-fetch-site": "none"})
    forms = _Forms()
    forms.feed(html)
    for form in forms.found:
        for button in form["buttons"]:
            if _meaning(button) == decision:
                return page, _press(auth_url, headers, form, button)
    raise LookupError(f"no form to {decision} on the page that was answered {page}: {html[:300]}")


def _press(page_url, headers, form, button):
    fields = [*form["fields"], *([(button["name"], button["value"])] if button["name"] else [])]
    # By the fetch standard a page with `no-referrer` posts its form with `Origin: null`.
    address = urlsplit(page_url)
    is_hidden = headers.get("referrer-policy") == "no-referrer"
    origin = "null" if is_hidden else f"{address.scheme}://{address.netloc}"
    sent = {**NAVIGATION, "sec-fetch-site": "same-origin", "origin": origin}
    sent["content-type"] = "application/x-www-form-urlencoded"
    status, _, _ = request(urljoin(page_url, form["action"]), sent, urlencode(fields).encode())
    return status


def _meaning(button):
    says = f"{button['value']} {button['label']}"
    if REFUSES.search(says):
        return "refuse"
    return "grant" if GRANTS.search(says) else None


class _Forms(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []
        self._button = None

    def handle_starttag(self, tag, pairs):
        attributes = {name: value or "" for name, value in pairs}
        if tag == "form":
            self.found.append({"action": attributes.get("action", ""), "fields": [], "buttons": []})
        elif not self.found:
            return
        elif tag == "button" or (tag == "input" and attributes.get("type") == "submit"):
            named = {"name": attributes.get("name"), "value": attributes.get("value", ""), "label": ""}
            self.found[-1]["buttons"].append(named)
            self._button = named if tag == "button" else None
        elif tag == "input" and attributes.get("name"):
            self.found[-1]["fields"].append((attributes["name"], attributes.get("value", "")))

    def handle_endtag(self, tag):
        if tag == "button":
            self._button = None

    def handle_data(self, data):
        if self._button:
            self._button["label"] += data
