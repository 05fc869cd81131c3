"""Requests routed, parsed and answered through the test client, and headers, cookies and passwords."""
import io

from werkzeug import http, urls
from werkzeug.datastructures import Headers, MultiDict
from werkzeug.exceptions import HTTPException, NotFound, abort
from werkzeug.routing import Map, Rule, Submount
from werkzeug.security import check_password_hash, generate_password_hash
from werkzeug.test import Client, EnvironBuilder
from werkzeug.utils import redirect, secure_filename
from werkzeug.wrappers import Request, Response

RULES = Map([
    Rule("/", endpoint="home"), Rule("/user/<int:n>", endpoint="user"), Rule("/file/<path:name>", endpoint="file"),
    Rule("/any/<any(a,b):what>/", endpoint="any"), Rule("/f/<float:x>", endpoint="float", methods=["GET"]),
    Submount("/sub", [Rule("/<string(length=2):code>", endpoint="sub"), Rule("/u/<uuid:id>", endpoint="uuid")]),
])


@Request.application
def application(request):
    adapter = RULES.bind_to_environ(request.environ)
    try:
        endpoint, values = adapter.match()
        if endpoint == "file":
            return redirect(adapter.build("user", {"n": 3}))
        if endpoint == "any":
            abort(403)
    except HTTPException as error:
        return error
    request.accept_languages.best_match(["de", "en"]), request.accept_mimetypes.best, request.cookies.get("a")
    response = Response("%s %r %r" % (endpoint, request.args.to_dict(), sorted(request.form.to_dict())), mimetype="text/plain")
    response.set_cookie("a", "b c", max_age=10, path="/", httponly=True), response.add_etag()
    response.headers["X-Files"] = str(len(request.files))
    return response.make_conditional(request)


client = Client(application, Response)
for turn in range(150):
    for path in ("/", "/user/7?x=1&y=%C3%A4", "/file/a/b.txt", "/any/a/", "/any/a", "/f/2.5", "/sub/de", "/nothing",
                 "/sub/u/12345678-1234-1234-1234-123456789012"):
        client.get(path, headers={"Accept-Language": "de;q=0.7, en;q=0.9", "Accept": "text/html,*/*;q=0.1"}).get_data()
    client.post("/", data={"a": "1", "b": "2"}), client.post("/", data={"f": (io.BytesIO(b"x" * 3000), "f.txt"), "a": "ä"})
    client.get("/", headers={"If-None-Match": '"x"', "Range": "bytes=0-3"}), client.head("/f/1.5")
    http.parse_options_header('form-data; name="a"; filename="b c.txt"'), http.parse_dict_header('a="b", c=d')
    http.dump_cookie("k", "v é", domain="example.com"), http.parse_date("Wed, 21 Oct 2015 07:28:00 GMT"), http.quote_etag("e")
    http.parse_cache_control_header("max-age=3, no-store"), secure_filename("../a b.txt"), urls.iri_to_uri("http://é/ü?x=ö")
    Headers([("A", "b"), ("a", "c")]).getlist("a"), MultiDict([("a", 1), ("a", 2)]).to_dict(False)
    EnvironBuilder("/x", query_string={"a": "b"}).get_environ(), NotFound().get_response()
check_password_hash(generate_password_hash("x", "pbkdf2:sha256:1000"), "x")
