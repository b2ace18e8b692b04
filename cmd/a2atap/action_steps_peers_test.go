//go:build peers

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A job runs the steps of the action as a runner of GitHub does.
type job struct {
	t       *testing.T
	dir     string
	inputs  map[string]string
	failed  bool
	out     map[string]string // of each step that ran
	status  map[string]int
	summary string
}

// runAction runs the steps of the action in a folder, but for those that are left out.
func runAction(t *testing.T, dir string, inputs map[string]string, leftOut ...string) *job {
	t.Helper()
	a := readAction(t)
	j := &job{t: t, dir: dir, inputs: make(map[string]string), out: make(map[string]string), status: make(map[string]int)}
	for name, in := range a.Inputs {
		j.inputs[name] = in.Default
	}
	for name, value := range inputs {
		j.inputs[name] = value
	}
	for _, s := range a.Runs.Steps {
		m := expression.FindStringSubmatch(s.If)
		wanted := m == nil && !j.failed || m != nil && j.inputs[m[2]] != "" && (m[1] != "" || !j.failed)
		if wanted && !strings.Contains(strings.Join(leftOut, "\n"), s.Name) {
			j.step(s)
		}
	}
	summary, err := os.ReadFile(filepath.Join(dir, "summary"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	j.summary = string(summary)
	return j
}

func (j *job) step(s actionStep) {
	j.t.Helper()
	file := filepath.Join(j.dir, "step.sh")
	if err := os.WriteFile(file, []byte(s.Run), 0o600); err != nil {
		j.t.Fatal(err)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", file) // what the shell bash means there
	cmd.Dir = j.dir
	root, err := filepath.Abs("../../.ci/action")
	if err != nil {
		j.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "GITHUB_STEP_SUMMARY="+filepath.Join(j.dir, "summary"), "GITHUB_PATH="+filepath.Join(j.dir, "path"))
	for name, value := range s.Env {
		m := expression.FindStringSubmatch(value)
		if m[4] != "" {
			value = root
		} else {
			value = j.inputs[m[2]]
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		j.t.Fatal(err)
	}
	j.out[s.Name], j.status[s.Name] = string(out), cmd.ProcessState.ExitCode()
	j.failed = j.failed || err != nil
}

// The steps record a test that talks to agents, by the proxy and by taps, and check and replay it. Each step fails for
// its own reason, and reports that in annotations and in the summary of the job.
func TestActionSteps(t *testing.T) {
	t.Parallel()
	s := &shell{t: t, dir: t.TempDir()}
	sound := s.start("a2atap agent spec --step 1ms --listen 127.0.0.1:0", "sound.ready")
	broken := s.start("a2atap agent spec --step 1ms --fault msg-id-present --listen 127.0.0.1:0", "broken.ready")
	defer sound.stop()
	defer broken.stop()
	for _, test := range []struct {
		name            string
		inputs          map[string]string
		record, check   int
		replay          int
		annotation, sum string
	}{
		{
			"nothing is wrong",
			map[string]string{"run": "traveller " + sound.url},
			0, 0, -1, "", "a2atap",
		},
		{
			"the agent breaks a rule",
			map[string]string{"run": "traveller " + broken.url, "agents": "\nbooker=" + broken.url + "\n"},
			0, 1, -1, "::error title=", "msg-id-present",
		},
		{
			"which is not what the job is to fail for",
			map[string]string{"run": "traveller " + broken.url, "fail-on": "never"},
			0, 0, -1, "::error title=", "msg-id-present",
		},
		{
			"the test fails, and is checked all the same",
			map[string]string{"run": "traveller " + sound.url + "; exit 7"},
			7, 0, -1, "", "a2atap",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := runAction(t, t.TempDir(), test.inputs, "Install a2atap")
			record, check := j.status["Record"], j.status["Check"]
			if record != test.record || check != test.check || j.failed != (record+check > 0) {
				t.Errorf("recording ends with %d, checking with %d:\n%s%s", record, check, j.out["Record"], j.out["Check"])
			}
			if out := j.out["Check"]; strings.Contains(out, "::error") != (test.annotation != "") || !strings.Contains(out, test.annotation) {
				t.Errorf("the annotations are\n%s", out)
			}
			if !strings.Contains(j.summary, test.sum) {
				t.Errorf("the summary is\n%s", j.summary)
			}
		})
	}
	t.Run("replay", func(t *testing.T) {
		dir := t.TempDir()
		if j := runAction(t, dir, map[string]string{"run": "traveller " + sound.url}, "Install a2atap"); j.failed {
			t.Fatal(j.out)
		}
		for to, want := range map[string]int{sound.url: 0, broken.url: 1} {
			j := runAction(t, dir, map[string]string{"replay": "a2a.a2atap", "replay-to": to}, "Install a2atap")
			out := j.out["Replay"]
			if j.status["Replay"] != want || strings.Contains(out, "::error title=a2atap::") != (want > 0) || len(j.out) != 1 {
				t.Errorf("replaying to %s ends with %d:\n%s", to, j.status["Replay"], out)
			}
			if !strings.Contains(j.summary, "Replay") && !strings.Contains(j.summary, "replay") {
				t.Errorf("the summary is\n%s", j.summary)
			}
		}
	})
}
