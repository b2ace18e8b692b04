package report

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
)

// maxSARIF bounds the results: services refuse longer reports.
const maxSARIF = 5000

// language is the language of all messages.
const language = "en-US"

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
		Language    string            `json:"language"`
		NewLines    []string          `json:"newlineSequences"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name     string      `json:"name"`
		Version  string      `json:"version,omitempty"`
		Language string      `json:"language"`
		Rules    []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID       string          `json:"id"`
		Short    sarifText       `json:"shortDescription"`
		Full     sarifText       `json:"fullDescription"`
		Help     sarifText       `json:"help"`
		Default  sarifDefault    `json:"defaultConfiguration"`
		Property sarifProperties `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifProperties map[string]any
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   sarifProperties    `json:"properties"`
		Times        int                `json:"occurrenceCount,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// SARIF writes a result as SARIF 2.1.0: at most 5,000 results, worst first in doubt, and the number of those left out.
// Of the rules it has those that were broken. The statements of the verdict are notifications; the invocation was not
// successful if one of them decides the exit status.
// The place of a finding is its logical location; the capture is the artifact.
func SARIF(w io.Writer, r *Report) error {
	run := sarifRun{
		ColumnKind: "unicodeCodePoints", Language: language, NewLines: []string{"\r\n", "\n"},
		Results: []sarifResult{},
	}
	run.Tool.Driver = sarifDriver{Name: r.Tool.Name, Version: r.Tool.Version, Language: language, Rules: []sarifRule{}}
	broken := make(map[string]bool)
	for i := range r.Result.Findings {
		broken[r.Result.Findings[i].Rule.ID] = true
	}
	index := make(map[string]int, len(broken))
	for _, rule := range r.Rules {
		if !broken[rule.ID] {
			continue
		}
		index[rule.ID] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: rule.ID, Short: sarifText{rule.Title}, Full: sarifText{oneLine(rule.Doc)}, Help: sarifText{oneLine(rule.Fix)},
			Default:  sarifDefault{rule.Severity().String()},
			Property: sarifProperties{"tags": []string{rule.Family, string(rule.Category)}},
		})
	}
	run.addTests(r)
	kept, left := worst(r.Result.Findings, maxSARIF-len(run.Results))
	for _, f := range kept {
		i, ok := index[f.Rule.ID]
		if !ok {
			i = -1
		}
		run.Results = append(run.Results, sarifFinding(f, i))
	}
	statements := r.statements()
	decides := func(s judgment.Statement) bool { return s.Exit != judgment.Passes }
	invocation := sarifInvocation{Successful: !slices.ContainsFunc(statements, decides)}
	notify := func(level, text string) {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{level, sarifText{text}})
	}
	notify("note", r.sentence())
	for _, s := range statements {
		if len(invocation.Notifications) == maxSARIF {
			break
		}
		notify(s.Exit.Severity().String(), s.String())
	}
	if left > 0 {
		notify("warning", fmt.Sprintf("%d findings are left out; the JSON report has all of them", left))
	}
	run.Invocations = []sarifInvocation{invocation}
	return encode(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}, "  ")
}

// worst returns at most limit findings in their order, and how many it leaves out: the mildest go first.
func worst(findings []analysis.Finding, limit int) (kept []*analysis.Finding, left int) {
	room := [analysis.Error + 1]int{}
	for _, s := range analysis.WorstFirst {
		n := 0
		for i := range findings {
			if findings[i].Severity == s {
				n++
			}
		}
		room[s] = min(n, limit)
		limit -= room[s]
	}
	for i := range findings {
		f := &findings[i]
		if room[f.Severity] == 0 {
			left++
			continue
		}
		room[f.Severity]--
		kept = append(kept, f)
	}
	return kept, left
}

func sarifFinding(f *analysis.Finding, index int) sarifResult {
	return sarifResult{
		RuleID: f.Rule.ID, RuleIndex: index, Level: f.Severity.String(),
		Message: sarifText{
			analysis.Clean(f.Message()) + " (" + blame(f) + strings.Join(f.Sections(), ", ") + ")",
		},
		Locations: []sarifLocation{{
			Physical: sarifPhysical{sarifArtifact{(&url.URL{Path: f.Capture}).String()}},
			Logical:  []sarifLogical{{Name: analysis.Clean(f.Place.String()), Kind: "member"}},
		}},
		Fingerprints: map[string]string{"a2atap/v1": f.Fingerprint()}, Times: f.Times,
		Properties: sarifProperties{
			"link": f.Link.String(), "side": f.Side.String(), "program": f.Program(), "operation": f.Operation.String(),
			"exchangeId": f.ExchangeID.String(), "also": append([]string{}, f.Also...),
		},
	}
}
