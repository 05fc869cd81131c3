/* SPDX-License-Identifier: MIT */
/* Format numbers and durations, and colour text; see text.h. */
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_set(const char *name)
{
	const char *v = getenv(name);

	return v && *v;
}

static bool wants_color(int fd, enum fz_color_when when)
{
	const char *term = getenv("TERM");

	if (when != FZ_COLOR_AUTO)
		return when == FZ_COLOR_ALWAYS;
	if (is_set("NO_COLOR"))
		return false;
	if (is_set("CLICOLOR_FORCE") || is_set("FORCE_COLOR"))
		return true;
	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

/* By name only, because containers often set a UTF-8 locale that is not installed. No locale means
 * the C locale, which is ASCII. */
static bool locale_is_ascii(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (is_set(names[i]))
			return !strcasestr(getenv(names[i]), "utf-8") &&
			       !strcasestr(getenv(names[i]), "utf8");
	return true;
}

static unsigned columns_of(int fd)
{
	struct winsize ws;
	uint64_t columns = 80;
	const char *env = getenv("COLUMNS");

	if (!(env && fz_parse_u64(fz_str_of(env), 10000, &columns)) && isatty(fd) &&
	    ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col)
		columns = ws.ws_col;
	return (unsigned)FZ_MAX(columns, 40);
}

static enum fz_links links_of(int fd)
{
	const char *term = getenv("TERM");

	if (!isatty(fd) || is_set("CI") || !term || !*term || strcmp(term, "dumb") == 0 ||
	    strcmp(term, "linux") == 0)
		return FZ_LINKS_NONE;
	return strcmp(term, "xterm-kitty") == 0 ? FZ_LINKS_TO_LINES : FZ_LINKS_TO_FILES;
}

struct fz_style fz_style_of(int fd, enum fz_color_when when)
{
	bool color = wants_color(fd, when);

	return (struct fz_style){
		.color = color,
		.terminal = isatty(fd),
		.links = (uint8_t)(color ? links_of(fd) : FZ_LINKS_NONE),
		.ascii = locale_is_ascii(),
		.columns = columns_of(fd),
	};
}

const char *fz_hue_on(const struct fz_style *s, enum fz_hue hue)
{
	static const char *const codes[] = {
		[FZ_HUE_NONE] = "",           [FZ_HUE_BOLD] = "\033[1m",
		[FZ_HUE_DIM] = "\033[2m",     [FZ_HUE_RED] = "\033[31m",
		[FZ_HUE_BLUE] = "\033[34m",   [FZ_HUE_PURPLE] = "\033[35m",
		[FZ_HUE_YELLOW] = "\033[33m", [FZ_HUE_GREEN] = "\033[32m",
	};

	return s->color ? codes[hue] : "";
}

const char *fz_hue_off(const struct fz_style *s, enum fz_hue hue)
{
	return s->color && hue != FZ_HUE_NONE ? "\033[0m" : "";
}

/* Adds commas between groups of three digits of the integer part. */
static char *group_digits(const char *plain, char out[FZ_NUMBER_SIZE])
{
	size_t sign = plain[0] == '-' || plain[0] == '+';
	size_t whole = strspn(plain + sign, "0123456789");
	size_t w = 0;

	for (size_t i = 0; plain[i] && w + 2 < FZ_NUMBER_SIZE; i++) {
		size_t left = i >= sign && i < sign + whole ? sign + whole - i : 0;
		if (left && i > sign && left % 3 == 0)
			out[w++] = ',';
		out[w++] = plain[i];
	}
	out[w] = '\0';
	return out;
}

char *fz_format_count(int64_t v, char out[FZ_NUMBER_SIZE])
{
	char plain[FZ_NUMBER_SIZE];

	snprintf(plain, sizeof(plain), "%lld", (long long)v);
	return group_digits(plain, out);
}

char *fz_format_decimal(double v, int digits, char out[FZ_NUMBER_SIZE])
{
	char plain[FZ_NUMBER_SIZE];

	snprintf(plain, sizeof(plain), fabs(v) < 1e18 ? "%.*f" : "%.*e", digits, v);
	/* Print "-0.0" without the sign. */
	if (plain[0] == '-' && strspn(plain + 1, "0.") == strlen(plain + 1))
		memmove(plain, plain + 1, strlen(plain));
	return group_digits(plain, out);
}

/* Decimals for three significant digits. */
static int digits_after_point(double v)
{
	return fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
}

struct scale_step {
	double unit;
	const char *suffix;
};

static char *format_scaled(double v, const struct scale_step *steps, size_t n,
			   char out[FZ_NUMBER_SIZE])
{
	char number[FZ_NUMBER_SIZE];
	size_t i = 0;

	while (i + 1 < n && fabs(v) < steps[i].unit * 0.9995)
		i++;
	double scaled = v / steps[i].unit;
	fz_format_decimal(scaled, steps[i].unit == 1 ? 0 : digits_after_point(scaled), number);
	snprintf(out, FZ_NUMBER_SIZE, "%.*s %s", FZ_NUMBER_SIZE - 8, number, steps[i].suffix);
	return out;
}

char *fz_format_ns(double ns, char out[FZ_NUMBER_SIZE])
{
	static const struct scale_step steps[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" }
	};

	return format_scaled(ns, steps, FZ_ARRAY_LEN(steps), out);
}

char *fz_format_value(double v, const char *unit, char out[FZ_NUMBER_SIZE])
{
	static const struct scale_step steps[] = {
		{ 1ull << 40, "TiB" }, { 1 << 30, "GiB" }, { 1 << 20, "MiB" },
		{ 1 << 10, "KiB" },    { 1, "B" },
	};

	if (v == 0 && strcmp(unit, "ns") == 0)
		return memcpy(out, "0 s", 4);
	if (strcmp(unit, "ns") == 0)
		return fz_format_ns(v, out);
	if (strcmp(unit, "bytes") == 0)
		return format_scaled(v, steps, FZ_ARRAY_LEN(steps), out);
	/* Tenths are only relevant below hundreds. */
	return fz_format_decimal(v, v == floor(v) || fabs(v) >= 100 ? 0 : 1, out);
}

char *fz_format_change(double v, const char *unit, char out[FZ_NUMBER_SIZE])
{
	char number[FZ_NUMBER_SIZE];

	fz_format_value(v, unit, number);
	snprintf(out, FZ_NUMBER_SIZE, "%s%.*s", v > 0 ? "+" : "", FZ_NUMBER_SIZE - 2, number);
	return out;
}

char *fz_format_percent(double fraction, char out[FZ_NUMBER_SIZE])
{
	char number[FZ_NUMBER_SIZE];
	double percent = fraction * 100;

	fz_format_decimal(percent, fabs(percent) < 999.5 ? 1 : 0, number);
	snprintf(out, FZ_NUMBER_SIZE, "%.*s %%", FZ_NUMBER_SIZE - 3, number);
	return out;
}

char *fz_format_percent_change(double fraction, char out[FZ_NUMBER_SIZE])
{
	char number[FZ_NUMBER_SIZE];

	fz_format_percent(fraction, number);
	snprintf(out, FZ_NUMBER_SIZE, "%s%.*s", fraction >= 0.0005 ? "+" : "", FZ_NUMBER_SIZE - 2,
		 number);
	return out;
}

char *fz_format_plural(int64_t n, const char *noun, char out[FZ_NUMBER_SIZE])
{
	char number[FZ_NUMBER_SIZE];

	fz_format_count(n, number);
	snprintf(out, FZ_NUMBER_SIZE, "%.*s %.16s%s", FZ_NUMBER_SIZE - 20, number, noun,
		 n == 1 ? "" : "s");
	return out;
}
