import { join } from 'node:path'
import { freePort, spawn } from './process.ts'
import { firstHealthy, type StartOptions, type Target } from './target.ts'

function nginxConfig(port: number, upstreamPort: number, folder: string): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ')
  return `daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
events { worker_connections 16384; }
http {
  access_log off;
  ${temp}
  keepalive_requests 1000000000;
  upstream mock {
    server 127.0.0.1:${upstreamPort};
    keepalive 512;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /health/live { return 200; }
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`
}

export function nginxPath(): string | null {
  return Bun.which('nginx', { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` })
}

/** One worker in one process, keep-alive to the upstream, no buffering: nginx at its leanest. */
export async function startNginx(options: StartOptions): Promise<Target | null> {
  const nginx = nginxPath()
  if (nginx === null) return null
  const { folder } = options
  const port = freePort()
  const config = join(folder, 'nginx.conf')
  await Bun.write(config, nginxConfig(port, options.upstreamPort, folder))
  const startedAt = performance.now()
  const command = [nginx, '-p', folder, '-e', join(folder, 'start.log'), '-c', config]
  const child = spawn({ place: 'gateway', command, log: join(folder, 'nginx.log') })
  const readyAt = await firstHealthy(port, child)
  return {
    name: 'nginx',
    port,
    path: '/v1/chat/completions',
    keys: [],
    pid: child.pid,
    coldStartMs: readyAt - startedAt,
    stop: child.stop,
  }
}
