/* SPDX-License-Identifier: MIT */
/* The terminal of the live view; see screen.h. */
#include "live/screen.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- restoring the terminal after a crash ---- */

/* Data for the signal handler. */
static struct {
	int fd;
	struct termios modes;
	char text[256]; /* what ends the full-screen mode */
	size_t n;
} rescue = { .fd = -1 };

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

static void give_back(int number)
{
	if (rescue.fd >= 0) {
		tcsetattr(rescue.fd, TCSANOW, &rescue.modes);
		for (size_t i = 0; i < rescue.n;) {
			ssize_t n = write(rescue.fd, rescue.text + i, rescue.n - i);
			if (n <= 0)
				break;
			i += (size_t)n;
		}
	}
	sigaction(number, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	raise(number);
}

static void remember_string(const char *capability)
{
	const char *text = tigetstr(capability);

	if (!text || text == (char *)-1)
		return;
	size_t n = strlen(text);
	if (rescue.n + n <= sizeof(rescue.text)) {
		memcpy(rescue.text + rescue.n, text, n);
		rescue.n += n;
	}
}

/* Handle each signal once, so that a crash in the handler ends the process. */
static void on_crash(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = (int)SA_RESETHAND };

	for (size_t i = 0; i < FZ_ARRAY_LEN(crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

static void prepare_rescue(const struct fz_live_screen *s)
{
	rescue.n = 0;
	remember_string("sgr0");
	remember_string("cnorm");
	remember_string("rmkx");
	remember_string("rmcup");
	rescue.fd = fileno(s->out);
	on_crash(give_back);
}

static void end_rescue(void)
{
	on_crash(SIG_DFL);
	rescue.fd = -1;
}

/* ---- opening ---- */

int fz_live_screen_check(struct fz_error *err)
{
	const char *term = getenv("TERM");
	fz_auto(fz_close_fd) int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return fz_fail(err, FZ_EUSAGE,
			       "the live view needs a terminal; to record only, omit it");
	if (!term || !*term || strcmp(term, "dumb") == 0)
		return fz_fail(err, FZ_EUSAGE,
			       "the live view needs a terminal with cursor control, and TERM is "
			       "'%s'; set TERM or omit the live view",
			       term ? term : "");
	return 0;
}

/* Characters beyond ASCII require a UTF-8 locale. If the user's locale is not installed, use
 * C.UTF-8. */
static bool has_unicode(bool wanted)
{
	if (!wanted)
		return false;
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return true;
	return setlocale(LC_CTYPE, "C.UTF-8") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static attr_t pair(int number, int foreground, int background, attr_t extra)
{
	init_pair((short)number, (short)foreground, (short)background);
	return (attr_t)COLOR_PAIR(number) | extra;
}

static void choose_colors(struct fz_live_screen *s)
{
	static const short cool_to_hot[FZ_LIVE_HEATS] = { 67,  73,  72,  107, 143,
							  179, 215, 209, 203, 196 };
	static const short few[FZ_LIVE_HEATS] = { COLOR_CYAN,   COLOR_CYAN,   COLOR_GREEN,
						  COLOR_GREEN,  COLOR_GREEN,  COLOR_YELLOW,
						  COLOR_YELLOW, COLOR_YELLOW, COLOR_RED,
						  COLOR_RED };
	bool many = COLORS >= 256;
	attr_t *a = s->attributes;

	a[FZ_LIVE_TITLE] = many ? pair(1, 255, 24, A_BOLD) : A_REVERSE | A_BOLD;
	a[FZ_LIVE_HEAD] = many ? pair(2, 255, 240, 0) : A_REVERSE;
	a[FZ_LIVE_KEY] = many ? pair(3, 255, 24, 0) : A_REVERSE;
	a[FZ_LIVE_GOOD] = pair(4, many ? 71 : COLOR_GREEN, -1, A_BOLD);
	a[FZ_LIVE_BAD] = pair(5, many ? 203 : COLOR_RED, -1, A_BOLD);
	a[FZ_LIVE_MORE] = pair(6, many ? 203 : COLOR_RED, -1, 0);
	a[FZ_LIVE_LESS] = pair(7, many ? 75 : COLOR_BLUE, -1, 0);
	if (many)
		a[FZ_LIVE_DIM] = pair(8, 245, -1, 0);
	for (int i = 0; i < FZ_LIVE_HEATS; i++)
		a[FZ_LIVE_HEAT + i] = pair(10 + i, many ? cool_to_hot[i] : few[i], -1, 0);
}

static void choose_attributes(struct fz_live_screen *s)
{
	attr_t *a = s->attributes;

	memset(a, 0, sizeof(s->attributes));
	a[FZ_LIVE_DIM] = A_DIM;
	a[FZ_LIVE_BOLD] = a[FZ_LIVE_GOOD] = a[FZ_LIVE_BAD] = A_BOLD;
	a[FZ_LIVE_TITLE] = A_REVERSE | A_BOLD;
	a[FZ_LIVE_HEAD] = a[FZ_LIVE_SELECTED] = a[FZ_LIVE_KEY] = A_REVERSE;
	a[FZ_LIVE_MORE] = A_BOLD;
	s->style.color = s->style.color && has_colors() && start_color() == OK &&
			 use_default_colors() == OK && COLORS >= 8;
	if (s->style.color)
		choose_colors(s);
}

static int refuse(struct fz_live_screen *s, struct fz_error *err)
{
	const char *term = getenv("TERM");

	if (s->in)
		fclose(s->in);
	if (s->out)
		fclose(s->out);
	return fz_fail(err, FZ_EUSAGE,
		       "the live view: unsupported terminal (TERM is '%s'); set TERM or omit the "
		       "live view",
		       term ? term : "");
}

int fz_live_screen_open(struct fz_live_screen *s, enum fz_color_when color, struct fz_error *err)
{
	int rc = fz_live_screen_check(err);

	if (rc)
		return rc;
	*s = (struct fz_live_screen){ .in = fopen("/dev/tty", "re"),
				      .out = fopen("/dev/tty", "we") };
	if (!s->in || !s->out)
		return refuse(s, err);
	s->fd = fileno(s->in);
	tcgetattr(s->fd, &rescue.modes);
	s->style = fz_style_of(s->fd, color);
	s->style.ascii = !has_unicode(!s->style.ascii);
	s->screen = newterm(NULL, s->out, s->in);
	if (!s->screen || !tigetstr("cup") || tigetstr("cup") == (char *)-1) {
		if (s->screen) {
			endwin();
			delscreen(s->screen);
		}
		return refuse(s, err);
	}
	prepare_rescue(s);
	raw();
	noecho();
	nonl();
	curs_set(0);
	set_escdelay(25);
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	choose_attributes(s);
	fz_live_screen_resize(s);
	return 0;
}

void fz_live_screen_close(struct fz_live_screen *s)
{
	endwin();
	delscreen(s->screen);
	end_rescue();
	fclose(s->in);
	fclose(s->out);
}

void fz_live_screen_leave(struct fz_live_screen *s)
{
	(void)s;
	def_prog_mode();
	endwin();
}

void fz_live_screen_return(struct fz_live_screen *s)
{
	reset_prog_mode();
	fz_live_screen_resize(s);
	clearok(stdscr, TRUE);
	refresh();
}

void fz_live_screen_resize(struct fz_live_screen *s)
{
	struct winsize ws;

	if (ioctl(s->fd, TIOCGWINSZ, &ws) == 0 && ws.ws_row && ws.ws_col)
		resizeterm(ws.ws_row, ws.ws_col);
	getmaxyx(stdscr, s->rows, s->columns);
}

/* ---- text ---- */

enum { TEXT_MAX = 2048 };

static struct fz_str make_printable(const struct fz_live_screen *s, struct fz_str text, char *out)
{
	size_t n = fz_str_printable(text.p, FZ_MIN(text.n, (size_t)TEXT_MAX / 4), out, TEXT_MAX),
	       w = 0;

	if (!s->style.ascii)
		return (struct fz_str){ out, n };
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)out[i] & 0xc0) != 0x80)
			out[w++] = (unsigned char)out[i] < 0x80 ? out[i] : '?';
	out[w] = 0;
	return (struct fz_str){ out, w };
}

static size_t next_char(struct fz_str s, size_t at, size_t *ret_columns)
{
	uint32_t code;
	size_t n = fz_utf8_decode(s.p + at, s.n - at, &code);

	n = n ? n : 1;
	*ret_columns = fz_str_columns((struct fz_str){ s.p + at, n });
	return n;
}

static const char *dots(const struct fz_live_screen *s)
{
	return s->style.ascii ? "~" : "\xe2\x80\xa6";
}

static void add_bytes(struct fz_live_screen *s, int y, int x, enum fz_live_style style,
		      struct fz_str text)
{
	if (y < 0 || y >= s->rows || x < 0 || x >= s->columns)
		return;
	attrset((int)s->attributes[style]);
	mvaddnstr(y, x, text.p, (int)text.n);
	attrset(A_NORMAL);
}

int fz_live_put(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
		struct fz_str text)
{
	char safe[TEXT_MAX];
	struct fz_str t = make_printable(s, text, safe);
	size_t room = (size_t)FZ_MAX(FZ_MIN(width, s->columns - x), 0), used = 0, columns, at = 0;

	if (room == 0)
		return 0;
	bool cut = fz_str_columns(t) > room;
	for (size_t n; at < t.n; at += n, used += columns) {
		n = next_char(t, at, &columns);
		if (used + columns > room - cut)
			break;
	}
	add_bytes(s, y, x, style, (struct fz_str){ t.p, at });
	if (cut)
		add_bytes(s, y, x + (int)used, style, fz_str_of(dots(s)));
	return (int)(used + cut);
}

void fz_live_put_end(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
		     struct fz_str text)
{
	char safe[TEXT_MAX];
	struct fz_str t = make_printable(s, text, safe);
	size_t room = (size_t)FZ_MAX(FZ_MIN(width, s->columns - x), 0);
	size_t all = fz_str_columns(t), columns;

	if (room == 0 || all <= room) {
		fz_live_put(s, y, x, width, style, text);
		return;
	}
	while (t.n && all > room - 1) {
		size_t n = next_char(t, 0, &columns);
		t.p += n;
		t.n -= n;
		all -= columns;
	}
	add_bytes(s, y, x, style, fz_str_of(dots(s)));
	add_bytes(s, y, x + 1, style, t);
}

int fz_live_printf(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
		   const char *fmt, ...)
{
	char text[TEXT_MAX / 4];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fz_live_put(s, y, x, width, style, fz_str_of(text));
}

int fz_live_print_right(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
			const char *fmt, ...)
{
	char text[TEXT_MAX / 4];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	int columns = (int)fz_str_columns(fz_str_of(text));
	int from = x + FZ_MAX(width - columns, 0);
	fz_live_put(s, y, from, width, style, fz_str_of(text));
	return columns;
}

void fz_live_fill(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style)
{
	attrset((int)s->attributes[style]);
	for (int i = x; i < x + width && i < s->columns; i++)
		mvaddch(y, i, ' ');
	attrset(A_NORMAL);
}

void fz_live_rule(struct fz_live_screen *s, int y)
{
	for (int i = 0; i < s->columns; i++)
		add_bytes(s, y, i, FZ_LIVE_DIM, fz_str_of(s->style.ascii ? "-" : "\xe2\x94\x80"));
}

/* ---- pictures ---- */

static const char *const left_blocks[] = { "",
					   "\xe2\x96\x8f",
					   "\xe2\x96\x8e",
					   "\xe2\x96\x8d",
					   "\xe2\x96\x8c",
					   "\xe2\x96\x8b",
					   "\xe2\x96\x8a",
					   "\xe2\x96\x89",
					   "\xe2\x96\x88" };
static const char *const low_blocks[] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
					  "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
					  "\xe2\x96\x87", "\xe2\x96\x88" };
static const char ascii_steps[] = ".:-=+*#@";

void fz_live_bar(struct fz_live_screen *s, int y, int x, int width, enum fz_live_style style,
		 double fraction)
{
	int eighths = (int)lround(FZ_MAX(FZ_MIN(fraction, 1.0), 0.0) * width * 8);

	for (int i = 0; i < width; i++, eighths -= 8) {
		int part = FZ_MAX(FZ_MIN(eighths, 8), 0);
		if (s->style.ascii)
			add_bytes(s, y, x + i, style, fz_str_of(part >= 4 ? "#" : " "));
		else if (part)
			add_bytes(s, y, x + i, style, fz_str_of(left_blocks[part]));
		else
			add_bytes(s, y, x + i, FZ_LIVE_TEXT, FZ_STR(" "));
	}
}

void fz_live_graph(struct fz_live_screen *s, int y, int x, enum fz_live_style style,
		   const double *values, int n)
{
	for (int i = 0; i < n; i++) {
		if (isnan(values[i]))
			continue;
		int step = (int)FZ_MIN(FZ_MAX(values[i], 0.0) * 8, 7.0);
		if (s->style.ascii)
			add_bytes(s, y, x + i, style, (struct fz_str){ &ascii_steps[step], 1 });
		else
			add_bytes(s, y, x + i, style, fz_str_of(low_blocks[step]));
	}
}

enum fz_live_style fz_live_heat(double share)
{
	/* Most shares are small, so steps follow the square root. */
	int step = (int)(sqrt(FZ_MAX(FZ_MIN(share, 1.0), 0.0)) * FZ_LIVE_HEATS);

	return (enum fz_live_style)(FZ_LIVE_HEAT + FZ_MIN(step, FZ_LIVE_HEATS - 1));
}
