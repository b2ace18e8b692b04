// Package hosts lists the recorders that have shipped to a stream: what has arrived, the lag of each, and losses.
package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/proxy/fleet"
)

// Options are the flags of hosts.
type Options struct {
	NATS   cli.NATSFlags
	Format string
}

// Run lists the recorders of a stream.
func Run(ctx context.Context, e cli.Env, o *Options, name string) error {
	if err := cli.Choose("format", o.Format, "text", "json"); err != nil {
		return err
	}
	if !fleet.IsAddress(name) {
		return cli.Usage("hosts: %s is not a stream; write nats://HOST:PORT/NAME", name)
	}
	address, err := fleet.ParseAddress(name)
	if err != nil {
		return cli.Usage("%s: %w", cli.ShownName(name), err)
	}
	connect, err := o.NATS.Options(e, address)
	if err != nil {
		return err
	}
	connect.Client = "a2atap hosts"
	conn, err := fleet.Connect(ctx, address, connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	found, err := conn.Hosts(ctx)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		out := json.NewEncoder(e.Out)
		out.SetIndent("", "  ")
		err = out.Encode(found)
	} else {
		err = printHosts(e, found)
	}
	if err == nil && len(found.Hosts) == 0 {
		e.Tell("hosts: no recorder has published to %s yet; start one with a2atap record … --ship %[1]s", address)
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return err
}

// hostColumns are titles and widths of the columns, for a terminal of 80.
var hostColumns = []struct {
	title string
	width int
	right bool
}{
	{"HOST", 18, false},
	{"CAPTURE", 16, false},
	{"STATE", 6, false},
	{"SHIPPED", 15, true},
	{"BEHIND", 7, true},
	{"HEARD", 8, true},
}

// printHosts prints a line for the stream, and one for each recorder with its problems below.
func printHosts(e cli.Env, found *fleet.Fleet) error {
	columns := cli.ColumnsOf(e.Out)
	var b strings.Builder
	line := func(text string) {
		if columns > 0 {
			text = present.InColumns(text, columns, false)
		}
		b.WriteString(strings.TrimRight(analysis.Clean(text), " ") + "\n")
	}
	s := &found.Stream
	line(fmt.Sprintf("%s: %s, %s%s", s.Address, analysis.Plural(s.Messages, "message"), cli.SizeWords(int64(s.Bytes)),
		streamTimes(s)))
	line("  " + streamLimits(s))
	if len(found.Hosts) == 0 {
		_, err := fmt.Fprint(e.Out, b.String())
		return err
	}
	titles := make([]string, len(hostColumns))
	for i, c := range hostColumns {
		titles[i] = c.title
	}
	line(hostRow(titles))
	for i := range found.Hosts {
		h := &found.Hosts[i]
		line(hostRow([]string{
			h.Host, h.Name, h.State, fmt.Sprintf("%d/%d", h.Shipped, h.Committed), behindWords(h), agoWords(e.Now(), h.Heard),
		}))
		for _, remark := range hostRemarks(h) {
			line("  " + remark)
		}
	}
	_, err := fmt.Fprint(e.Out, b.String())
	return err
}

func hostRow(cells []string) string {
	var b strings.Builder
	for i, c := range hostColumns {
		if i > 0 {
			b.WriteString("  ")
		}
		b.WriteString(present.InColumns(cells[i], c.width, c.right))
	}
	return b.String()
}

func streamTimes(s *fleet.StreamState) string {
	if s.First.IsZero() {
		return ""
	}
	const form = "2006-01-02 15:04:05"
	return fmt.Sprintf(", %s to %s UTC", s.First.UTC().Format(form), s.Last.UTC().Format(form))
}

func streamLimits(s *fleet.StreamState) string {
	keeps := []string{"without a time limit", "of any size"}
	if s.MaxAge > 0 {
		keeps[0] = ageWords(s.MaxAge)
	}
	if s.MaxBytes > 0 {
		keeps[1] = "up to " + cli.SizeWords(s.MaxBytes)
	}
	text := "it keeps messages " + strings.Join(keeps, ", ")
	if s.Replicas > 1 {
		text += fmt.Sprintf("; %d replicas, %d of %d followers up to date", s.Replicas, s.Current, s.Replicas-1)
		if s.Leader != "" {
			text += ", leader " + s.Leader
		}
	}
	return text
}

// hostRemarks returns the facts that not every line has.
func hostRemarks(h *fleet.HostState) []string {
	remarks := []string{fmt.Sprintf("capture %s, by %s, format %d", h.Capture, h.Tool, h.Format)}
	add := func(format string, args ...any) { remarks = append(remarks, fmt.Sprintf(format, args...)) }
	if h.Future != "" {
		add("%s", h.Future)
	}
	if h.Missing > 0 {
		add("the stream has removed steps 1 to %d", h.Missing)
	}
	if h.Lost > 0 {
		add("%s could not be recorded", analysis.Plural(h.Lost, "exchange"))
	}
	if h.Crashes > 0 {
		add("its recorder was killed (%s)", analysis.Plural(h.Crashes, "time"))
	}
	if h.Error != "" {
		add("it cannot ship: %s", h.Error)
	}
	if h.State == fleet.StateSilent && h.Committed == h.Shipped {
		add("it may have recorded more since: it has not reported its end, and does not answer")
	}
	const noticed = 0.01
	if c := h.ClockOffset; c != nil && (*c > noticed || *c < -noticed) {
		way := "ahead of"
		if *c < 0 {
			way = "behind"
		}
		add("its clock is at least %s %s that of this machine", summary.DurationWords(seconds(*c).Abs()), way)
	}
	return remarks
}

func behindWords(h *fleet.HostState) string {
	if h.State == fleet.StateSilent {
		return "?"
	}
	if h.Committed <= h.Shipped {
		return "–"
	}
	return ageWords(seconds(h.Behind))
}

func agoWords(now, then time.Time) string {
	if age := now.Sub(then); age >= time.Second {
		return ageWords(age) + " ago"
	}
	return "now"
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// ageWords formats a duration with one number.
func ageWords(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
