"""Commands of several kinds built, run and asked for help."""
import click
from click.testing import CliRunner


@click.group(chain=False)
@click.option("--verbose/--quiet", default=False, help="More words.")
@click.option("--level", type=click.IntRange(0, 9), default=3, show_default=True, envvar="LEVEL")
@click.pass_context
def cli(context, verbose, level):
    context.obj = verbose, level


@cli.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--mode", type=click.Choice(["a", "b"], case_sensitive=False), default="a")
@click.option("--count", "-n", multiple=True, type=float)
@click.option("--day", type=click.DateTime())
@click.password_option()
@click.pass_obj
def add(obj, names, mode, count, day, password):
    """Add NAMES to the list, and print them in several colours with a long text of help that is wrapped."""
    for name in names:
        click.secho(name, fg="green", bold=True)
    with click.progressbar(range(3)) as bar:
        list(bar)
    click.echo(click.style("done", underline=True) + repr(obj))


@cli.command(short_help="Remove.")
@click.argument("file", type=click.File("r"), default="-")
@click.confirmation_option(prompt="Sure?")
def remove(file):
    click.echo(file.read())
    if click.prompt("n", type=int, default=2) > 1:
        raise click.BadParameter("too many")


runner = CliRunner()
for _ in range(25):
    runner.invoke(cli, ["--help"]), runner.invoke(cli, ["add", "--help"]), runner.invoke(cli, ["nobody"])
    runner.invoke(cli, ["--level", "4", "add", "x", "y", "-n", "1", "--mode", "B", "--day", "2020-01-01"], input="p\np\n")
    runner.invoke(cli, ["--level", "44", "add", "x"]), runner.invoke(cli, ["remove"], input="y\n3\n")
    runner.invoke(cli, ["add", "x", "--mode", "z"], env={"LEVEL": "2"})
    click.unstyle(click.style("a", fg="red")), click.format_filename("a/b")
