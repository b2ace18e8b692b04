package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
)

// A Sentence is where the sentence, or the member of a definition, begins that a rule cites.
type Sentence struct {
	Section string // as Rule.Sections has it
	Tag     string // of the specification's repository, such as v0.3.0
	File    string // in that repository
	Line    int    // from 1
}

// Sentences returns the contents of Rule.Stands by section. Each section of A2A has one place, in a tag of its version,
// and a section of a guide has one or more. A section without a place, or a place without a section, is an error.
func Sentences(r *analysis.Rule) ([]Sentence, error) {
	var all, left []Sentence
	for place := range strings.FieldsSeq(r.Stands) {
		s, err := sentence(place)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		left = append(left, s)
	}
	for _, section := range r.Sections(r.Dialects()) {
		of, _, _ := strings.Cut(section, " §")
		guide, isGuide := strings.CutSuffix(of, " guide")
		if !isGuide && !slices.Contains(versions, of) {
			continue // of another standard
		}
		begun := len(all)
		left = slices.DeleteFunc(left, func(s Sentence) bool {
			here := strings.HasPrefix(s.Tag, "v"+of+".") && !strings.HasPrefix(s.File, guides) && len(all) == begun
			if isGuide {
				here = strings.HasPrefix(s.File, guides+guide)
			}
			if here {
				s.Section = section
				all = append(all, s)
			}
			return here
		})
		if len(all) == begun {
			return nil, fmt.Errorf("rule %s: Stands has no entry for %s", r.ID, section)
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("rule %s: Stands has %s line %d of %s, but no such section is cited",
			r.ID, left[0].File, left[0].Line, left[0].Tag)
	}
	return all, nil
}

// versions lists the versions of A2A in citations; guides is the location of the guides.
var versions = []string{"0.1", "0.2", "0.3", "1.0"}

const guides = "docs/topics/"

// sentence reads VERSION:LINE or VERSION:FILE:LINE.
func sentence(place string) (Sentence, error) {
	f := strings.Split(place, ":")
	line, err := strconv.Atoi(f[len(f)-1])
	if err != nil || line < 1 || len(f) < 2 || len(f) > 3 {
		return Sentence{}, fmt.Errorf("%q is neither VERSION:LINE nor VERSION:FILE:LINE", place)
	}
	file := "docs/specification.md"
	if len(f) == 3 {
		switch file = guides + f[1] + ".md"; {
		case f[1] == "types":
			file = "types/src/types.ts"
		case f[1] == "proto" && strings.HasPrefix(f[0], "0."):
			file = "specification/grpc/a2a.proto"
		case f[1] == "proto":
			file = "specification/a2a.proto"
		}
	}
	return Sentence{Tag: "v" + f[0], File: file, Line: line}, nil
}
