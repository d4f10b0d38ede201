// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import io.weft.transport.Capabilities;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Checks every transport on the class path by its own probe, and TCP over loopback by a
/// connection.
final class TransportChecks {

  private static final String AREA = "transport";
  private static final int LIMIT_MILLIS = 2_000;

  private TransportChecks() {}

  static List<CheckResult> look() {
    var findings = new ArrayList<CheckResult>();
    List<TransportProvider> providers = TransportProvider.all();
    providers.stream()
        .sorted(Comparator.comparing(TransportProvider::scheme))
        .forEach(provider -> findings.add(probe(provider)));
    findings.addAll(absent(providers.stream().map(TransportProvider::scheme).toList()));
    findings.add(loopback());
    return findings;
  }

  /// Returns findings for the transports that are not on the class path.
  static List<CheckResult> absent(List<String> schemes) {
    return Stream.of(
            CheckResult.missing(
                AREA,
                "shm",
                "not on the class path: ranks of one host talk over TCP",
                "add the artifact io.weft:weft-shm, or io.weft:weft-starter, which brings it"),
            CheckResult.limited(
                AREA,
                "verbs",
                "not on the class path: no RDMA between hosts",
                "add the artifact io.weft:weft-verbs, or io.weft:weft-starter, which brings it"))
        .filter(finding -> !schemes.contains(finding.subject()))
        .toList();
  }

  private static CheckResult probe(TransportProvider provider) {
    return switch (provider.probe()) {
      case Availability.Available(List<Capabilities> devices) ->
          CheckResult.works(
              AREA,
              provider.scheme(),
              devices.stream().map(Capabilities::device).collect(Collectors.joining(", ")));
      case Availability.Unavailable(String reason, String remedy) ->
          CheckResult.missing(AREA, provider.scheme(), reason, remedy);
    };
  }

  private static CheckResult loopback() {
    InetAddress address = InetAddress.getLoopbackAddress();
    try (var listener = new ServerSocket(0, 1, address);
        var client = new Socket(Proxy.NO_PROXY)) {
      client.connect(listener.getLocalSocketAddress(), LIMIT_MILLIS);
      listener.setSoTimeout(LIMIT_MILLIS);
      try (Socket server = listener.accept()) {
        server.setSoTimeout(LIMIT_MILLIS);
        client.getOutputStream().write(42);
        return server.getInputStream().read() == 42
            ? CheckResult.works(AREA, "loopback", address.getHostAddress() + " carries bytes")
            : CheckResult.missing(AREA, "loopback", "bytes arrive changed", "check the firewall");
      }
    } catch (IOException blocked) {
      return CheckResult.missing(
          AREA, "loopback", blocked.toString(), "bring the interface up: 'ip link set lo up'");
    }
  }
}
