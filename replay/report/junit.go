package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as a JUnit test suite: a case for each exchange, skipped if it was left out, and one for
// each difference that belongs to no exchange.
func JUnit(w io.Writer, r *Report) error {
	suite := junitSuite{Name: analyzer.Clean("replay " + r.Capture)}
	for i := range r.Lines {
		l := &r.Lines[i]
		c := junitCase{Name: fmt.Sprintf("%d %s", l.Exchange, l.Operation), Class: "exchanges"}
		switch l.Status {
		case LeftOut:
			c.Skipped = &junitMessage{Message: analyzer.Clean(l.Why)}
			suite.Skipped++
		case Differing:
			c.Failure = junitFailure(l.Differences)
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	for i, d := range r.others() {
		c := junitCase{
			Name: fmt.Sprintf("%s %d", d.Kind, i+1), Class: "not about a single answer",
			Failure: junitFailure([]Difference{d}),
		}
		suite.Cases = append(suite.Cases, c)
		suite.Failures++
	}
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitFailure(differences []Difference) *junitMessage {
	var b strings.Builder
	writeDifferences(&b, differences)
	return &junitMessage{Message: analyzer.Clean(differences[0].Message), Text: b.String()}
}
