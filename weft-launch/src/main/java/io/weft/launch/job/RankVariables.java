// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.store.SecretFile;
import io.weft.launch.process.DeathWatch;
import io.weft.transport.spi.Secret;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What each rank finds in its environment.
final class RankVariables {

  private final JobPlan plan;
  private final String job;
  private final Map<String, String> common;

  RankVariables(JobPlan plan, String store, String mark) {
    this.plan = plan;
    this.job = job(plan, mark);
    this.common = new HashMap<>(plan.environment());
    common.put("WEFT_STORE", store);
    common.put("WEFT_JOB", job);
    common.put(DeathWatch.VARIABLE, mark);
  }

  /// The name of a job whose launcher has this mark.
  static String job(JobPlan plan, String mark) {
    return plan.config().job().orElse("weft-" + mark);
  }

  /// The job's name.
  String job() {
    return job;
  }

  /// On this host: the secret by its file, where flight files go, and whose end is the rank's.
  Map<String, String> here(Placement placement, Path secret, Path flights) {
    var variables = new HashMap<>(common);
    variables.putAll(placement.variables());
    variables.put("WEFT_SECRET_FILE", secret.toString());
    variables.put("WEFT_FLIGHT_DIR", flights.toString());
    variables.put("WEFT_LAUNCHER_PID", Long.toString(ProcessHandle.current().pid()));
    return variables;
  }

  /// What this process has and a rank must not: the secret itself, and the terminal where the
  /// rank's lines are prefixed.
  List<String> removedHere(Placement placement) {
    boolean raw = plan.output().isRaw(placement.rank());
    return raw
        ? List.of(SecretFile.VARIABLE, SecretFile.HEX_VARIABLE)
        : List.of(SecretFile.VARIABLE, SecretFile.HEX_VARIABLE, "WEFT_TERMINAL");
  }

  /// On another host: the secret itself, and the settings of this process.
  Map<String, String> there(Placement placement, Secret secret) {
    var variables = new HashMap<String, String>();
    System.getenv()
        .forEach(
            (name, value) -> {
              if (name.matches("WEFT_[A-Z_]+")) {
                variables.put(name, value);
              }
            });
    variables.keySet().removeAll(List.of("WEFT_SECRET_FILE", "WEFT_TERMINAL", "WEFT_LAUNCHER_PID"));
    variables.putAll(common);
    variables.putAll(placement.variables());
    variables.keySet().removeAll(List.of(SecretFile.VARIABLE, SecretFile.HEX_VARIABLE));
    variables.putAll(SecretFile.variables(secret));
    return variables;
  }
}
