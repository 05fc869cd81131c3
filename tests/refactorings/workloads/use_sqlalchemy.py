"""Tables and mapped classes, statements of many kinds compiled, and sessions on SQLite in memory."""
import sqlalchemy as sa
from sqlalchemy import orm

try:
    Base = orm.declarative_base()
except AttributeError:
    from sqlalchemy.ext.declarative import declarative_base
    Base = declarative_base()


class User(Base):
    __tablename__ = "users"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(50), index=True)
    when = sa.Column(sa.DateTime, server_default=sa.func.now())
    addresses = orm.relationship("Address", back_populates="user", cascade="all, delete-orphan")


class Address(Base):
    __tablename__ = "addresses"
    id = sa.Column(sa.Integer, primary_key=True)
    email = sa.Column(sa.Text)
    user_id = sa.Column(sa.ForeignKey("users.id"))
    user = orm.relationship(User, back_populates="addresses")


users, addresses = User.__table__, Address.__table__
for turn in range(5):
    engine = sa.create_engine("sqlite://")
    Base.metadata.create_all(engine)
    session = orm.sessionmaker(bind=engine)()
    for n in range(60):
        session.add(User(name="n%d" % n, addresses=[Address(email="a%d" % n), Address(email="b%d" % n)]))
    session.commit()
    for n in range(40):
        session.query(User).filter(User.name.like("n%"), User.id > n).order_by(User.name.desc()).limit(3).all()
        session.query(User, Address).join(Address, Address.user_id == User.id).filter(sa.or_(Address.email == "a3", User.id.in_([1, 2]))).all()
        session.query(sa.func.count(User.id), User.name).group_by(User.name).having(sa.func.count(User.id) > 1).all()
        session.query(User).options(orm.joinedload(User.addresses)).filter_by(name="n%d" % n).first()
        session.query(User).options(orm.selectinload(User.addresses)).filter(User.id < 5).all()
        one = session.query(User).filter(User.id == n + 1).one()
        one.name, one.addresses[0].email = "new%d" % n, "c"
        session.flush()
    session.delete(one), session.commit(), session.rollback(), session.close()
    with engine.begin() as connection:
        connection.execute(users.insert(), [{"name": "x%d" % n} for n in range(20)])
        connection.execute(users.update().where(users.c.name == "x1").values(name=sa.case((users.c.id > 3, "y"), else_="z")
                           if sa.__version__ > "2" else sa.case([(users.c.id > 3, "y")], else_="z")))
        connection.execute(users.delete().where(users.c.name == "z"))
        alias = users.alias()
        for n in range(30):
            str(sa.union(users.join(addresses).select(), alias.join(addresses).select()))
            str(sa.exists().where(users.c.id == addresses.c.user_id)), str(sa.cast(users.c.id, sa.String) + "x")
        sa.inspect(engine).get_columns("users"), sa.MetaData().reflect(bind=connection)
    Base.metadata.drop_all(engine)
