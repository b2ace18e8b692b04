package manual_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/manual"
	"a2atap/proxy/expect"
)

// mill returns a program of two commands that share flags, and a topic that lists them.
func mill() *cobra.Command {
	root := &cobra.Command{Use: "mill", Short: "Grind", Example: "  mill grind rye", Run: func(*cobra.Command, []string) {}}
	root.PersistentFlags().BoolP("quiet", "q", false, "say nothing")
	grind := &cobra.Command{
		Use: "grind GRAIN...", Short: "Make flour of grain", Run: root.Run,
		Long:    "Grind makes flour; --coarse leaves\nsome.\n\n.5 kg is the least, it's a \\ rule:\n\n  rye   5 kg\n  oats  7 kg",
		Example: "  mill grind rye --coarse 2",
	}
	grind.Flags().IntP("coarse", "c", 1, "leave `N` parts in a hundred …")
	sift := &cobra.Command{Use: "sift", Short: "Take the bran out", Example: "  mill sift", Run: root.Run}
	for _, cmd := range []*cobra.Command{grind, sift} {
		cmd.Flags().String("wind", "", "turn into the `WIND`")
		cmd.Flags().Bool("wind-lull", false, "wait for "+cmd.Name()+"ing")
		root.AddCommand(cmd)
	}
	manual.Add(root, []manual.Topic{
		{Name: "grain", Short: "What can be ground", Text: "Rye and oats."},
		{Name: "wind", Short: "The weather", Text: "Wind is free.\n", Flags: []string{"grind,sift: wind", "wind-*"}},
	})
	return root
}

func TestHelp(t *testing.T) {
	for _, test := range []struct{ command, want string }{
		{"", `  mill grind rye

Grind

Usage:
  mill
  mill COMMAND

Commands:
  grind       Make flour of grain
  sift        Take the bran out

Topics of mill help:
  grain       What can be ground
  and with the flags of commands:
    wind

Flags:
  -q, --quiet   say nothing

Run mill COMMAND --help for more about a command.
`},
		{"grind", `  mill grind rye --coarse 2

Grind makes flour; --coarse leaves
some.

.5 kg is the least, it's a \ rule:

  rye   5 kg
  oats  7 kg

Usage:
  mill grind GRAIN... [flags]

Flags:
  -c, --coarse N   leave N parts in a hundred … (default 1)

More flags; mill help TOPIC explains them:
  wind        --wind, --wind-lull

Flags of all commands: --help (-h), --quiet (-q); see mill --help
`},
		{"wind", `Wind is free.

Flags of grind and sift:
      --wind WIND   turn into the WIND

Flags of grind:
      --wind-lull   wait for grinding

Flags of sift:
      --wind-lull   wait for sifting
`},
	} {
		cmd, _, err := mill().Find(strings.Fields(test.command))
		if err != nil {
			t.Fatal(err)
		}
		expect.Same(t, fmt.Sprintf("mill %s", test.command), test.want, manual.Help(cmd))
	}
}

// A program prints the same when it is asked as users ask, and takes the flags that a topic lists.
func TestHelpIsPrinted(t *testing.T) {
	for _, args := range [][]string{{"grind", "--help"}, {"grind", "--wind", "north", "-h"}} {
		root := mill()
		var out strings.Builder
		root.SetOut(&out)
		root.SetArgs(args)
		if err := root.Execute(); err != nil || !strings.HasPrefix(out.String(), "  mill grind rye --coarse 2\n") {
			t.Errorf("%q: %v\n%s", args, err, out.String())
		}
	}
}

func TestPages(t *testing.T) {
	pages := make(map[string]string)
	for _, p := range manual.Pages(mill(), manual.Edition{Program: "mill v1.2", Date: "2026-03-01"}) {
		pages[p.Name] = p.Text
	}
	expect.Equal(t, "pages", 5, len(pages))
	for name, want := range map[string]string{
		"mill-grind": `.TH "MILL\-GRIND" "1" "2026\-03\-01" "mill v1.2" "mill manual"
.nh
.ad l
.SH NAME
mill\-grind \- Make flour of grain
.SH SYNOPSIS
.B mill grind
GRAIN... [flags]
.SH DESCRIPTION
.PP
Grind makes flour; \fB\-\-coarse\fR leaves
some.
.PP
\&.5 kg is the least, it\(aqs a \e rule:
.PP
.nf
  rye   5 kg
  oats  7 kg
.fi
.SH OPTIONS
.TP
\fB\-c\fR, \fB\-\-coarse\fR \fIN\fR
leave N parts in a hundred \[u2026] (default 1)
.SS "The weather"
Explained by
\fBmill\-wind\fR(7):
.TP
\fB\-\-wind\fR \fIWIND\fR
turn into the WIND
.TP
\fB\-\-wind\-lull\fR
wait for grinding
.SS "Of all commands"
.TP
\fB\-q\fR, \fB\-\-quiet\fR
say nothing
.SH EXAMPLES
.PP
.nf
  mill grind rye \-\-coarse 2
.fi
.SH SEE ALSO
\fBmill\fR(1),
\fBmill\-wind\fR(7)
`,
		"mill-wind": `.TH "MILL\-WIND" "7" "2026\-03\-01" "mill v1.2" "mill manual"
.nh
.ad l
.SH NAME
mill\-wind \- The weather
.SH DESCRIPTION
.PP
Wind is free.
.SH OPTIONS
.SS "Of grind and sift"
.TP
\fB\-\-wind\fR \fIWIND\fR
turn into the WIND
.SS "Of grind"
.TP
\fB\-\-wind\-lull\fR
wait for grinding
.SS "Of sift"
.TP
\fB\-\-wind\-lull\fR
wait for sifting
.SH SEE ALSO
\fBmill\fR(1),
\fBmill\-grind\fR(1),
\fBmill\-sift\fR(1)
`,
	} {
		expect.Same(t, name, want, pages[name])
	}
}
