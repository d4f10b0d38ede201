// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.transport.Address;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// The entry of one rank in the store, for the other ranks: one fact per line, UTF-8.
///
/// @param size the size of the job as this rank was told
/// @param process the identity of its process, from `JobProcess`
/// @param host the host on which it runs
/// @param processors the processors that it may use
/// @param addresses the listening addresses of its transports
/// @param settings the settings that must be equal on all ranks, as `NAME=VALUE`
record RankEntry(
    int size,
    String process,
    HostIdentity host,
    Processors processors,
    List<Address> addresses,
    List<String> settings) {

  private static final String FIRST = "weft-member 3";
  private static final String BETWEEN = "\t";

  RankEntry {
    addresses = List.copyOf(addresses);
    settings = List.copyOf(settings);
  }

  static RankEntry of(
      JobProcess process, int size, List<Address> addresses, List<String> settings) {
    return new RankEntry(
        size,
        process.identity(),
        new HostIdentity(process.host(), process.boot()),
        process.processors(),
        addresses,
        settings);
  }

  /// Creates the entry of a rank that has taken its number in the running job but has not joined
  /// yet.
  static RankEntry absent() {
    return new RankEntry(0, "", new HostIdentity("", ""), Processors.UNKNOWN, List.of(), List.of());
  }

  /// Creates the entry of a rank that can no longer be reached.
  RankEntry withoutAddresses() {
    return new RankEntry(size, process, host, processors, List.of(), settings);
  }

  boolean isAbsent() {
    return addresses.isEmpty() && process.isEmpty() && host.name().isEmpty();
  }

  boolean sameProcess(RankEntry other) {
    return process.equals(other.process) && host.equals(other.host);
  }

  /// Returns the first setting that differs, as `NAME=VALUE` of this entry and of the other. Empty
  /// if all agree.
  List<String> disagreement(RankEntry other) {
    for (String setting : settings) {
      String name = setting.substring(0, setting.indexOf('=') + 1);
      for (String its : other.settings) {
        if (its.startsWith(name) && !its.equals(setting)) {
          return List.of(setting, its);
        }
      }
    }
    return List.of();
  }

  byte[] encode() {
    var lines =
        new ArrayList<>(
            List.of(
                FIRST,
                "" + size,
                process,
                host.name(),
                host.boot(),
                processors.list(),
                String.join(BETWEEN, settings)));
    addresses.forEach(address -> lines.add(address.toString()));
    return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
  }

  /// Throws `IllegalArgumentException` if the bytes are not an entry of this version.
  static RankEntry decode(byte[] bytes) {
    List<String> lines = List.of(new String(bytes, StandardCharsets.UTF_8).split("\n", -1));
    if (lines.size() < 7 || !lines.getFirst().equals(FIRST)) {
      throw new IllegalArgumentException("begins with '" + lines.getFirst() + "', not " + FIRST);
    }
    return new RankEntry(
        Integer.parseInt(lines.get(1)),
        lines.get(2),
        new HostIdentity(lines.get(3), lines.get(4)),
        new Processors(lines.get(5)),
        lines.stream().skip(7).map(Address::parse).toList(),
        lines.get(6).isEmpty() ? List.of() : List.of(lines.get(6).split(BETWEEN, -1)));
  }
}
