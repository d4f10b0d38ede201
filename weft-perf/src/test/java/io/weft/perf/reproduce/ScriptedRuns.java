// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import io.weft.perf.process.PerfException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A starter that runs nothing: it returns a prepared report for commands with a certain text, and
/// fails for others.
final class ScriptedRuns implements WeftRuns.Starter {

  private final Map<String, String> reports = new LinkedHashMap<>();
  private final List<String> started = new ArrayList<>();

  ScriptedRuns report(String part, String json) {
    reports.put(part, json);
    return this;
  }

  @Override
  public RunReport run(WeftRun run, Duration limit) {
    started.add(run.text());
    return reports.entrySet().stream()
        .filter(each -> run.text().contains(each.getKey()))
        .findFirst()
        .map(each -> RunReport.parse(run.text(), each.getValue()))
        .orElseThrow(() -> new PerfException.Failed(run.text() + " ended with 1: scripted"));
  }

  List<String> started() {
    return List.copyOf(started);
  }

  WeftRuns quick() {
    return of(ReproductionMode.QUICK);
  }

  WeftRuns of(ReproductionMode mode) {
    return new WeftRuns(this, mode, Duration.ofSeconds(60), line -> {}, () -> 0L);
  }
}
