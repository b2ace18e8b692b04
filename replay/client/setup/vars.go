package setup

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"a2atap/proxy/jsondoc"
)

// Vars are the values of {{NAME}} in templates.
type Vars struct {
	values map[string]string
	getenv func(string) string
}

var (
	placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
	varName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// parseVars reads NAME=VALUE.
func parseVars(flags []string, getenv func(string) string) (Vars, error) {
	v := Vars{values: make(map[string]string), getenv: getenv}
	for _, flag := range flags {
		name, value, ok := strings.Cut(flag, "=")
		if !ok || !varName.MatchString(name) {
			return v, fmt.Errorf("--var: write NAME=VALUE, NAME of letters, digits and underscores")
		}
		v.values[name] = value
	}
	return v, nil
}

// With returns the variables and one more, which replaces any other with its name.
func (v Vars) With(name, value string) Vars {
	v.values = maps.Clone(v.values)
	v.values[name] = value
	return v
}

// Text replaces each {{NAME}} in a text.
func (v Vars) Text(text string) (string, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSpace(found[2 : len(found)-2])
		value, err := v.value(name)
		if err != nil && failed == nil {
			failed = err
		}
		return value
	})
	return out, failed
}

func (v Vars) value(name string) (string, error) {
	if env, ok := strings.CutPrefix(name, "env."); ok {
		value := v.getenv(env)
		if value == "" {
			return "", fmt.Errorf("{{env.%s}}: the variable is not set, or empty", env)
		}
		return value, nil
	}
	value, ok := v.values[name]
	if !ok {
		known := append(slices.Sorted(maps.Keys(v.values)), "env.NAME")
		return "", fmt.Errorf("unknown variable {{%s}}; use %s", name, strings.Join(known, ", "))
	}
	return value, nil
}

// Object reads a JSON object and replaces each {{NAME}} in its strings, so that no value can change the structure.
// Names of members stay as they are.
func (v Vars) Object(text string) (map[string]any, error) {
	var object map[string]any
	if err := jsondoc.Unmarshal([]byte(text), &object); err != nil {
		return nil, fmt.Errorf("it is not a JSON object: %w", err)
	}
	if object == nil {
		return nil, fmt.Errorf("it is not a JSON object")
	}
	rendered, err := v.any(object)
	if err != nil {
		return nil, err
	}
	return rendered.(map[string]any), nil
}

func (v Vars) any(value any) (any, error) {
	var err error
	switch value := value.(type) {
	case string:
		return v.Text(value)
	case []any:
		for i := range value {
			if value[i], err = v.any(value[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if value[name], err = v.any(value[name]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
