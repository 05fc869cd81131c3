"""Names, addresses, texts and profiles in several languages."""
from faker import Faker

Faker.seed(4321)
for turn in range(4):
    several = Faker(["en_US", "de_DE", "ja_JP"])
    one = Faker("fr_FR")
    for fake in (several, one, Faker("en_US")):
        for _ in range(40):
            fake.name(), fake.address(), fake.email(), fake.phone_number(), fake.company(), fake.job()
            fake.date_time_between("-10y", "now"), fake.date_of_birth(), fake.time(), fake.past_date(), fake.iso8601()
            fake.text(80), fake.sentence(), fake.paragraphs(2), fake.uuid4(), fake.ipv4(), fake.ipv6(), fake.url()
            fake.credit_card_full(), fake.iban(), fake.ean13(), fake.isbn13(), fake.file_path(), fake.user_agent()
            fake.pydict(3, True, [int, str]), fake.pydecimal(4, 2), fake.pyfloat(), fake.pystr(), fake.random_int()
            fake.password(), fake.color(), fake.hex_color(), fake.ssn(), fake.profile(), fake.bothify("##??")
            fake.random_elements(["a", "b", "c"], 2, True), fake.currency(), fake.language_code(), fake.mac_address()
            fake.csv(num_rows=2), fake.binary(16), fake.license_plate(), fake.latlng()
        if fake is not several:
            fake.add_provider(type("P", (), {"__init__": lambda self, g: None, "hello": lambda self: "x"}))
    one.unique.first_name()
