package tui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/menu"
	"a2atap/tui/text"
)

// An Exporter writes exchanges of the capture into files. Its function runs outside the event loop.
type Exporter struct {
	Formats []ExportFormat

	// Write writes exchanges with these numbers, in order, or all of the capture if seqs is nil. It returns the size of
	// the file in bytes. If the file exists and overwrite is false, it returns an error that wraps fs.ErrExist.
	Write func(ctx context.Context, file string, f ExportFormat, seqs []uint64, overwrite bool) (int64, error)
}

// An ExportFormat is a file format for exchanges.
type ExportFormat struct {
	Key    string // key that selects it
	Name   string // such as "har"
	Words  string // description for users
	Ending string // of file names
	Single bool   // a file holds only one exchange
}

// A selection is the exchanges to export.
type selection struct {
	words string
	name  string // for the file
	count int    // of exchanges; -1 if unknown
	seqs  func(context.Context) ([]uint64, error)
}

// begin asks for the exchanges to export, then for the format, then for the file.
func (e *exporting) begin(at analysis.Place) tea.Cmd {
	load, seq := e.shared.Load, at.Exchange
	these := func(seqs []uint64) func(context.Context) ([]uint64, error) {
		return func(context.Context) ([]uint64, error) { return seqs, nil }
	}
	one := selection{words: fmt.Sprintf("exchange %d", seq), name: fmt.Sprint(seq), count: 1, seqs: these([]uint64{seq})}
	task := selection{
		words: fmt.Sprintf("all exchanges of the task of %d", seq), name: fmt.Sprintf("%d-task", seq), count: -1,
		seqs: func(ctx context.Context) ([]uint64, error) {
			_, seqs, err := load.SameTask(ctx, seq)
			return seqs, err
		},
	}
	var list []uint64
	for _, note := range e.shared.Notes.All() {
		if note.Marked && note.Seq <= e.shared.Info.Exchanges {
			list = append(list, note.Seq)
		}
	}
	marked := selection{
		words: "marked: " + text.Plural(len(list), "exchange"), name: "marked", count: len(list), seqs: these(list),
	}
	shown := selection{
		words: "all: " + text.Plural(e.shared.Info.Exchanges, "exchange"), name: "all", count: -1, seqs: these(nil),
	}
	if matches, filtered := e.list.Matches(); filtered {
		found := append([]uint64{}, matches...)
		shown = selection{
			words: "filtered: " + text.Plural(len(found), "exchange"), name: "filtered", count: len(found),
			seqs: these(found),
		}
	}
	choose := func(key string, s selection, off string) menu.Choice {
		return menu.Choice{Key: key, Words: s.words, Off: off, Do: func() tea.Cmd { return e.chooseFormat(at, s) }}
	}
	noneMarked, noneFound := "", ""
	if len(list) == 0 {
		noneMarked = "x marks an exchange"
	}
	if shown.count == 0 {
		noneFound = "nothing matches"
	}
	return e.push(menu.New("export", at, []menu.Choice{
		choose("e", one, ""), choose("t", task, ""), choose("m", marked, noneMarked), choose("f", shown, noneFound),
	}))
}

// chooseFormat asks for the format.
func (e *exporting) chooseFormat(at analysis.Place, s selection) tea.Cmd {
	var choices []menu.Choice
	for _, f := range e.options.Exporter.Formats {
		c := menu.Choice{Key: f.Key, Words: f.Words, Do: func() tea.Cmd { return e.exportTo(f, s) }}
		if f.Single && s.count != 1 {
			c.Off = "of one exchange only"
		}
		choices = append(choices, c)
	}
	return e.push(menu.New("as", at, choices))
}

// exportTo asks for the name of the file.
func (e *exporting) exportTo(f ExportFormat, s selection) tea.Cmd {
	name := strings.TrimSuffix(filepath.Base(e.shared.Info.Name), filepath.Ext(e.shared.Info.Name))
	if name == "" || name == "." || name == string(filepath.Separator) {
		name = "export"
	}
	e.prompt = newPrompt("write to", name+"-"+s.name+f.Ending, func(file string) (tea.Cmd, error) {
		if strings.TrimSpace(file) == "" {
			return nil, errors.New("a name is needed")
		}
		return e.write(strings.TrimSpace(file), f, s, false), nil
	})
	return nil
}

// exported reports a written file.
type exported struct {
	file  string
	size  int64
	count int // of exchanges; -1 for all
	err   error
	again func() tea.Cmd // overwrites the existing file
}

func (e *exporting) write(file string, f ExportFormat, s selection, overwrite bool) tea.Cmd {
	ctx, write := e.shared.Load.Context, e.options.Exporter.Write
	e.shared.Message = "writing " + file + " …"
	return func() tea.Msg {
		seqs, err := s.seqs(ctx)
		msg := exported{file: file, count: len(seqs), err: err}
		if seqs == nil {
			msg.count = -1
		}
		if err == nil {
			msg.size, msg.err = write(ctx, file, f, seqs, overwrite)
		}
		msg.again = func() tea.Cmd { return e.write(file, f, s, true) }
		return msg
	}
}

// exported reports the written file, or asks whether to overwrite an existing one.
func (e *exporting) exported(msg exported) tea.Cmd {
	e.shared.Message = ""
	switch {
	case errors.Is(msg.err, fs.ErrExist):
		return e.ask(msg.file+" already exists: o overwrites it, any other key cancels",
			map[string]func() tea.Cmd{"o": msg.again})
	case msg.err != nil:
		e.shared.Message = msg.err.Error()
		return nil
	}
	what := "all exchanges"
	if msg.count >= 0 {
		what = text.Plural(msg.count, "exchange")
	}
	e.shared.Message = fmt.Sprintf("wrote %s: %s, %s", msg.file, what, text.Size(msg.size))
	return nil
}
