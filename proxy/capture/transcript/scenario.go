package transcript

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Scenario is a transcript in a file with several, such as a broken case and its near misses. Each scenario after the
// first begins with a line
//
// -- scenario NAME --
//
// followed by the comment of the scenario. A file may also begin with such a line.
type Scenario struct {
	Name string // name of the file without its extension; then a hyphen and the NAME, if the scenario has one
	File string
	Line int    // number of the scenario's first line, from 1
	Text []byte // the scenario's part of the file, with its first line
}

const scenarioMark = "scenario "

// Split divides a file into its scenarios: one, unless there are lines that begin others. The texts, concatenated, are
// the file.
func Split(file string, data []byte) []Scenario {
	base := strings.TrimSuffix(filepath.ToSlash(file), ".txtar")
	list := []Scenario{{Name: base, File: file, Line: 1}}
	pos, line, start := 0, 0, 0
	for text := range bytes.Lines(data) {
		line++
		if name, ok := scenarioName(text); ok {
			list[len(list)-1].Text = data[start:pos]
			if pos == 0 {
				list = nil
			}
			list = append(list, Scenario{Name: base + "-" + name, File: file, Line: line})
			start = pos
		}
		pos += len(text)
	}
	list[len(list)-1].Text = data[start:]
	return list
}

// scenarioName returns the NAME in a line "-- scenario NAME --".
func scenarioName(line []byte) (string, bool) {
	name, _ := markerName(line)
	return strings.CutPrefix(name, scenarioMark)
}

// Parse reads the scenario.
func (s *Scenario) Parse() (*Transcript, error) { return parse(s.File, s.Text, s.Line) }

// String returns where the scenario is, and its name.
func (s *Scenario) String() string { return fmt.Sprintf("%s:%d (%s)", s.File, s.Line, s.Name) }

// ReadDir returns the scenarios of all transcripts (*.txtar) below a folder, in the order of their files. Names begin
// with the path of the file, relative to the folder.
func ReadDir(dir string) ([]Scenario, error) {
	var list []Scenario
	known := make(map[string]*Scenario)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".txtar") {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		for _, s := range Split(path, data) {
			s.File = filepath.Join(dir, path)
			if other := known[s.Name]; other != nil {
				return fmt.Errorf("%s:%d: scenario %s is already in %s:%d", s.File, s.Line, s.Name, other.File, other.Line)
			}
			known[s.Name] = &s
			list = append(list, s)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read transcripts below %s: %w", dir, err)
	}
	return list, nil
}
