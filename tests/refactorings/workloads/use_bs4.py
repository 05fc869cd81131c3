"""A document parsed, searched, changed and written."""
import bs4

HTML = "<html><head><title>T</title></head><body>" + "".join(
    f'<div id="d{i}" class="a b{i % 3}"><p>Some <b>bold</b> text &amp; more<br/>'
    f'<a href="/x/{i}">link {i}</a><!-- note --></p><ul><li>1<li>2</ul></div>' for i in range(60)) + "</body></html>"
for _ in range(12):
    soup = bs4.BeautifulSoup(HTML, "html.parser")
    soup.find_all("a", href=True), soup.find_all(["p", "li"]), soup.find_all(class_="b1")
    soup.find_all(string=lambda text: text and "more" in text), soup.find(id="d7").find_next("b")
    soup.find_all(lambda tag: tag.name == "b"), soup.select("div.b2 > p a")
    soup.find("ul").find_parent("div"), soup.find("li").find_next_siblings("li")
    soup.find("b").find_previous("title"), soup.find_all("a")[5].find_all_previous("div")
    soup.get_text(" ", strip=True), soup.prettify(), str(soup)
    for tag in soup.find_all("b"):
        tag.string = "thin"
        tag.name = "i"
        tag.wrap(soup.new_tag("u"))
    for tag in soup.find_all("ul"):
        tag.insert_before("text"), tag.extract()
    soup.find("a").replace_with("nothing"), soup.body.append(soup.new_tag("hr"))
    bs4.BeautifulSoup(HTML, "html.parser", parse_only=bs4.SoupStrainer("a"))
    bs4.BeautifulSoup(HTML.encode("utf-8"), "html.parser", from_encoding="utf-8").decode(formatter="html")
