//go:build unix

package agents

import (
	"os"
	"testing"

	"a2atap/replay/client"
)

// A program whose task is canceled gets a signal to end.
func TestSkillProgramIsCanceled(t *testing.T) {
	told := t.TempDir() + "/told"
	c, end := startBooking(t, told)
	id := ""
	for e, err := range c.Stream(t.Context(), client.Text("book wait"), client.SendOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Status == nil || e.Status.Status.State != client.Working {
			continue
		}
		id = e.TaskID()
		if task, err := c.Cancel(t.Context(), id, nil); err != nil || task.Status.State != client.Canceled {
			t.Errorf("canceled: %+v, %v", task, err)
		}
	}
	if id == "" {
		t.Fatal("it did not work")
	}
	end() // when nothing is worked on any more
	if text, err := os.ReadFile(told); err != nil || string(text) != "told" {
		t.Errorf("the program was not told: %q, %v", text, err)
	}
}
