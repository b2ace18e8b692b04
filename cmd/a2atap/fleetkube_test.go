package main

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// kubeFile is docs/fleet/sidecar.yaml, with what its first lines have the user make.
type kubeFile struct {
	text      string
	services  []*kubeService
	workloads []*kubeWorkload
}

func readKube(t *testing.T) *kubeFile {
	t.Helper()
	file := &kubeFile{text: string(fleetFile(t, "sidecar.yaml"))}
	err := decodeStrictly([]byte(file.text), func(kind string) any {
		switch kind {
		case "Service":
			file.services = append(file.services, new(kubeService))
			return file.services[len(file.services)-1]
		case "Deployment", "StatefulSet":
			file.workloads = append(file.workloads, new(kubeWorkload))
			return file.workloads[len(file.workloads)-1]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// service returns the service of a name, and the workload behind it.
func (f *kubeFile) service(name string) (*kubeService, *kubeWorkload) {
	for _, s := range f.services {
		for _, w := range f.workloads {
			if s.Metadata.Name == name && maps.Equal(s.Spec.Selector, w.Spec.Template.Metadata.Labels) {
				return s, w
			}
		}
	}
	return nil, nil
}

// The manifests are what Kubernetes would read, and their names, ports, folders, users and command lines agree with
// each other and with the server's configuration.
func TestSidecarFile(t *testing.T) {
	file, conf := readKube(t), readServerConf(t)
	if len(file.services) != 2 || len(file.workloads) != 2 {
		t.Fatalf("%d services and %d workloads, want two of each", len(file.services), len(file.workloads))
	}
	for _, s := range file.services {
		name := s.Metadata.Name
		_, w := file.service(name)
		if s.APIVersion != "v1" || w == nil {
			t.Fatalf("nothing is behind the service %s", name)
		}
		for _, p := range s.Spec.Ports {
			if w.Spec.Template.Spec.port(p.TargetPort) == 0 {
				t.Errorf("the service %s leads to the port %s, which nothing has", name, p.TargetPort)
			}
		}
	}
	for _, w := range file.workloads {
		template := &w.Spec.Template
		if w.APIVersion != "apps/v1" || !maps.Equal(w.Spec.Selector.MatchLabels, template.Metadata.Labels) {
			t.Errorf("%s %s does not select its own pods", w.Kind, w.Metadata.Name)
		}
		if served, _ := file.service(w.Spec.ServiceName); w.Kind == "StatefulSet" && served == nil {
			t.Errorf("%s %s names the service %q", w.Kind, w.Metadata.Name, w.Spec.ServiceName)
		}
		for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
			checkContainer(t, file, w, &c, conf)
		}
	}
}

func (p *kubePod) port(name string) int {
	for _, c := range slices.Concat(p.InitContainers, p.Containers) {
		for _, port := range c.Ports {
			if port.Name == name {
				return port.ContainerPort
			}
		}
	}
	return 0
}

func checkContainer(t *testing.T, file *kubeFile, w *kubeWorkload, c *kubeContainer, conf *server.Options) {
	t.Helper()
	pod := &w.Spec.Template.Spec
	locked := c.SecurityContext
	user := max(locked.RunAsUser, pod.SecurityContext.RunAsUser)
	if !locked.ReadOnlyRootFilesystem || locked.AllowPrivilegeEscalation == nil || *locked.AllowPrivilegeEscalation ||
		!slices.Equal(locked.Capabilities.Drop, []string{"ALL"}) || user == 0 {
		t.Errorf("container %s may do more than it has to", c.Name)
	}
	volumes := make(map[string]bool)
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
		made := "create configmap a2atap-server --from-file=docs/fleet/server.conf"
		if v.ConfigMap != nil && (v.ConfigMap.Name != "a2atap-server" || !strings.Contains(file.text, made)) {
			t.Errorf("nothing makes the configmap %s", v.ConfigMap.Name)
		}
	}
	for _, v := range w.Spec.VolumeClaimTemplates {
		volumes[v.Metadata.Name] = true
	}
	writable := make(map[string]bool)
	for _, m := range c.VolumeMounts {
		writable[m.MountPath] = !m.ReadOnly
		if !volumes[m.Name] {
			t.Errorf("container %s mounts %s, which is not there", c.Name, m.Name)
		}
	}
	environment := make(map[string]string)
	for _, e := range c.Env {
		environment[e.Name] = e.Value
		made := regexp.MustCompile(` --from-literal=` + e.ValueFrom.SecretKeyRef.Key + `=`)
		if e.Value == "" && (e.ValueFrom.SecretKeyRef.Name != "a2atap" || !made.MatchString(file.text)) {
			t.Errorf("nothing makes the secret of %s", e.Name)
		}
	}
	checkSecrets(t, c.Name, environment, conf)
	switch c.Name {
	case "tap":
		checkSidecar(t, file, w, c, conf, writable)
	case "nats":
		health := pod.port(c.LivenessProbe.HTTPGet.Port)
		if pod.port("nats") != conf.Port || health != conf.HTTPPort || !writable[conf.StoreDir] ||
			!slices.Equal(c.Args, []string{"-c", "/etc/nats/server.conf"}) {
			t.Errorf("container %s is not what server.conf says: ports %d and %d, store %s", c.Name, pod.port("nats"), health,
				conf.StoreDir)
		}
	}
}

func checkSidecar(
	t *testing.T, file *kubeFile, w *kubeWorkload, c *kubeContainer, conf *server.Options, writable map[string]bool,
) {
	t.Helper()
	line := parseTap(t, c.Args)
	checkShipped(t, c.Name, line, conf)
	if c.RestartPolicy != "Always" {
		t.Errorf("container %s is no sidecar", c.Name)
	}
	if _, at := file.service(line.ship.Hostname()); at == nil || at.Spec.Template.Spec.port("nats") != conf.Port {
		t.Errorf("container %s ships to %s, and no service leads there", c.Name, line.ship)
	}
	served, _ := file.service(w.Metadata.Name)
	if served == nil || served.Spec.Ports[0].TargetPort != "tap" || !slices.Contains(line.hosts, served.Metadata.Name) ||
		strconv.Itoa(w.Spec.Template.Spec.port("tap")) != line.port {
		t.Errorf("clients of %s do not come through the tap on port %s", w.Metadata.Name, line.port)
	}
	for _, probe := range []*kubeProbe{c.StartupProbe, c.ReadinessProbe} {
		if !slices.Equal(probe.Exec.Command, []string{"test", "-e", line.ready}) {
			t.Errorf("container %s is ready by %q, and writes %s", c.Name, probe.Exec.Command, line.ready)
		}
	}
	if !writable[path.Dir(line.output)] || !writable[path.Dir(line.ready)] {
		t.Errorf("container %s writes %s and %s, which it cannot", c.Name, line.output, line.ready)
	}
	agent := w.Spec.Template.Spec.Containers[0]
	if !strings.Contains(file.text, agent.Image+" # listens on "+line.agent+"\n") {
		t.Errorf("the agent does not listen on %s", line.agent)
	}
}

// The image is built with the Go that the module wants, as the user that the manifests name, and the server's image is
// of the version that the tests run.
func TestImages(t *testing.T) {
	t.Parallel()
	dockerfile, kube := string(fleetFile(t, "Dockerfile")), readKube(t)
	version := func(module string) string {
		m := regexp.MustCompile(regexp.QuoteMeta(module) + ` v?(\d+\.\d+)\.`).FindStringSubmatch(goMod(t))
		if m == nil {
			t.Fatalf("go.mod has no %s", module)
		}
		return m[1]
	}
	if want := "FROM golang:" + version("\ngo") + "-alpine"; !strings.Contains(dockerfile, want) {
		t.Errorf("the Dockerfile has no %q", want)
	}
	user := strconv.Itoa(kube.workloads[0].Spec.Template.Spec.InitContainers[0].SecurityContext.RunAsUser)
	if !strings.Contains(dockerfile, "-u "+user+" ") || !strings.Contains(dockerfile, "\nUSER "+user+"\n") {
		t.Errorf("the Dockerfile does not make the user %s", user)
	}
	want := "nats:" + version("github.com/nats-io/nats-server/v2") + "-alpine"
	if image := kube.workloads[1].Spec.Template.Spec.Containers[0].Image; image != want {
		t.Errorf("the manifests run %s, want %s", image, want)
	}
	if image := readCompose(t).Services["nats"].Image; image != want {
		t.Errorf("the compose file runs %s, want %s", image, want)
	}
}
