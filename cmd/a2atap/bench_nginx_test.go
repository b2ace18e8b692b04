package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// nginxConfig is for speed, and passes events at once.
const nginxConfig = `daemon off; pid nginx.pid; error_log stderr crit; worker_processes 2;
events { worker_connections 8192; }
http {
	access_log off; keepalive_requests 100000000;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
	upstream agent { server AGENT; keepalive 1024; keepalive_requests 100000000; }
	server {
		listen LISTEN; proxy_http_version 1.1; proxy_set_header Connection "";
		proxy_buffering off; proxy_request_buffering off;
		location / { proxy_pass http://agent; }
	}
}
`

// startNginx starts nginx, and waits until it listens. The benchmark fails where nginx is not installed.
func startNginx(b *testing.B, agent, folder string) *way {
	path, err := exec.LookPath("nginx")
	if err != nil {
		b.Fatalf("nginx, which the others are compared to, is not installed: %v; install it "+
			"(on Debian: apt-get install nginx-light), or leave it out with -ways", err)
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	addr := l.Addr().String()
	l.Close()
	config := strings.NewReplacer("AGENT", agent, "LISTEN", addr).Replace(nginxConfig)
	file := filepath.Join(folder, "nginx.conf")
	must.Do(b, os.WriteFile(file, []byte(config), 0o600))
	w := &way{addr: addr, command: exec.Command(path, "-p", folder, "-c", file)}
	w.command.Stderr = os.Stderr
	must.Do(b, w.command.Start())
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			return w
		}
		if time.Now().After(deadline) {
			b.Fatalf("nginx does not listen on %s: %v", addr, err)
		}
		<-time.After(5 * time.Millisecond) // another process opens it; there is nothing to wait on
	}
}
