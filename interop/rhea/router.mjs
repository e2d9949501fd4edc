// A router program in a process of its own, on a free port of the loopback interface.

import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../ports.mjs";

/** Milliseconds. Nothing here takes that long; only something broken does. */
export const PATIENCE = 120_000;

function listening(port) {
  return new Promise((resolve) => {
    const probe = connect(port, "127.0.0.1");
    probe.once("connect", () => resolve(true) ?? probe.destroy());
    probe.once("error", () => resolve(false));
  });
}

export class Router {
  /** `sections` gives further sections of its configuration, for the folder that it has. */
  static async start(sections = () => "") {
    const folder = process.env.WAYSTATION_PROGRAMS;
    if (!folder) {
      throw new Error("WAYSTATION_PROGRAMS must name the folder of the programs under test; `cargo xtask interop` sets it");
    }
    const router = new Router();
    router.port = await freePort();
    router.webPort = await freePort();
    router.folder = mkdtempSync(join(tmpdir(), "waystation-rhea-"));
    router.program = join(folder, "qdrouterd");
    writeFileSync(
      join(router.folder, "router.conf"),
      `
router {
    mode: standalone
    id: interop
}
listener {
    host: 127.0.0.1
    port: ${router.port}
    saslMechanisms: ANONYMOUS
    authenticatePeer: no
}
listener {
    host: 127.0.0.1
    port: ${router.webPort}
    http: yes
}
address {
    prefix: multicast
    distribution: multicast
}
log {
    module: DEFAULT
    enable: info+
    outputFile: ${join(router.folder, "router.log")}
}
${sections(router.folder)}
`,
    );
    await router.run();
    return router;
  }

  /** Starts the process, and waits until it listens. */
  async run() {
    const output = openSync(join(this.folder, "router.out"), "a");
    this.process = spawn(this.program, ["-c", join(this.folder, "router.conf")], { stdio: ["ignore", output, output] });
    this.ended = new Promise((resolve) => this.process.once("exit", (code, signal) => resolve(code ?? signal)));
    const deadline = Date.now() + PATIENCE;
    while (!(await listening(this.port))) {
      if (Date.now() > deadline || this.process.exitCode !== null) {
        throw new Error(`the router does not listen:\n${readFileSync(join(this.folder, "router.out"))}`);
      }
      await sleep(20);
    }
  }

  /** Asks it to stop, as an operator would; gives its exit status. */
  async stop() {
    this.process.kill("SIGTERM");
    return this.ended;
  }

  /** Ends it without notice. */
  async kill() {
    this.process.kill("SIGKILL");
    return this.ended;
  }
}
