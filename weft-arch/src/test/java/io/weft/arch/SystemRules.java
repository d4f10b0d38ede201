// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;

/// The rules for access to the machine: sockets, native code, clock, terminal.
final class SystemRules {

  /// The packages whose code runs in simulated time.
  private static final String[] TIMELESS = {
    "io.weft",
    "io.weft.agent..",
    "io.weft.cluster..",
    "io.weft.collective..",
    "io.weft.comm..",
    "io.weft.config..",
    "io.weft.kv..",
    "io.weft.memory..",
    "io.weft.observer..",
    "io.weft.rendezvous..",
    "io.weft.telemetry.flight..",
    "io.weft.tensor..",
    "io.weft.transport.."
  };

  private SystemRules() {}

  static List<ArchRule> all() {
    return List.of(
        noClasses()
            .that()
            .resideOutsideOfPackages(
                "io.weft.transport..", // Transfers the bytes.
                "io.weft.cluster.store", // Runs before transports exist.
                "io.weft.launch.doctor", // Checks the requirements of transports.
                "io.weft.launch.job", // Chooses the address that remote ranks call.
                "io.weft.perf.plain", // Measures a socket without Weft.
                "io.weft.perf.turns", // Schedules the turns of measured ranks.
                "io.weft.telemetry.metrics", // Serves metrics to collectors.
                "io.weft.testkit..",
                "io.weft.qa..")
            .should()
            .dependOnClassesThat(SOCKETS)
            .because("services use tensors, never sockets"),
        noClasses()
            .that()
            .resideOutsideOfPackages("..ffm", "io.weft.testkit..", "io.weft.qa..")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.lang.foreign.Linker")
            .because("all native calls must be in the packages named ffm"),
        noClasses()
            .that()
            .resideInAnyPackage(TIMELESS)
            .and()
            .doNotHaveFullyQualifiedName("io.weft.agent.Ticker")
            // KernelWarmUp decides the duration of a kernel's warm-up. The tensor module does not
            // depend
            // on agents.
            .and()
            .doNotHaveFullyQualifiedName("io.weft.tensor.kernel.KernelWarmUp")
            .should()
            .accessTargetWhere(CLOCK)
            .because("time is an argument so that protocols can run in simulated time"),
        noClasses()
            .that()
            .resideInAnyPackage("io.weft.kv..")
            .should()
            .accessTargetWhere(REAL_WAIT)
            .because(
                "servers and workers take threads and waits from AgentRunners, to run in simulated"
                    + " time"),
        noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.weft.transport.limit.ClampedDuration")
            .should()
            .accessTargetWhere(CONVERSION)
            .because("a user's Duration may exceed the range of long: ClampedDuration saturates"),
        noClasses()
            .that()
            .resideOutsideOfPackages(
                "io.weft.launch..", "io.weft.perf..", "io.weft.testkit..", "io.weft.qa..")
            .should()
            .accessTargetWhere(CONSOLE)
            .because("a library's output belongs to the program that uses it"),
        noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.weft.transport.spi.TransportProvider")
            .and(KNOW_TRANSPORTS)
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.util.ServiceLoader")
            .because("a provider file may name transports whose jars are absent"),
        noClasses()
            .that()
            .resideOutsideOfPackages("io.weft.testkit..", "io.weft.qa..")
            .should()
            .accessTargetWhere(PROXIED_SOCKET)
            .because("the JVM's proxy settings must not affect connections between ranks"),
        noClasses()
            .that()
            .resideOutsideOfPackages("io.weft.testkit..", "io.weft.qa..")
            .should()
            .accessTargetWhere(VIRTUAL_THREAD)
            .because(
                "a blocking pipe, file or native call pins its carrier thread, and if all carriers"
                    + " are pinned, the code that would unblock them cannot run"));
  }

  private static final DescribedPredicate<JavaClass> KNOW_TRANSPORTS =
      describe(
          "know transports",
          type ->
              type.getDirectDependenciesFromSelf().stream()
                  .anyMatch(
                      use ->
                          use.getTargetClass()
                              .getName()
                              .equals("io.weft.transport.spi.TransportProvider")));

  private static final DescribedPredicate<JavaClass> SOCKETS =
      describe(
          "are sockets or their channels",
          type ->
              type.getFullName()
                  .matches(
                      "java\\.net\\..*Socket"
                          + "|java\\.nio\\.channels\\.(.*SocketChannel|DatagramChannel|Select.*)"));

  private static final DescribedPredicate<JavaAccess<?>> CLOCK =
      describe(
          "the clock is read",
          access ->
              target(access)
                  .matches(
                      "java\\.lang\\.System\\.(nanoTime|currentTimeMillis)"
                          + "|java\\.time\\..*\\.now"));

  private static final DescribedPredicate<JavaAccess<?>> REAL_WAIT =
      describe(
          "a thread is started or waits in real time",
          access ->
              target(access)
                  .matches(
                      "java\\.lang\\.Thread\\.(sleep|start|join|of.*)"
                          + "|java\\.lang\\.Object\\.wait"
                          + "|java\\.util\\.concurrent\\.Executors\\..*"
                          + "|java\\.util\\.concurrent\\..*\\.delayedExecutor"));

  private static final DescribedPredicate<JavaAccess<?>> CONVERSION =
      describe(
          "a Duration becomes a number that may overflow",
          access -> target(access).matches("java\\.time\\.Duration\\.(toNanos|toMillis)"));

  private static final DescribedPredicate<JavaAccess<?>> CONSOLE =
      describe(
          "the standard streams are used",
          access -> target(access).matches("java\\.lang\\.System\\.(out|err|in)"));

  private static final DescribedPredicate<JavaAccess<?>> PROXIED_SOCKET =
      describe(
          "a socket is made that may go through a proxy: give it Proxy.NO_PROXY",
          access ->
              access
                  .getTarget()
                  .getFullName()
                  .matches("java\\.net\\.Socket\\.<init>\\((?!java\\.net\\.Proxy).*"));

  private static final DescribedPredicate<JavaAccess<?>> VIRTUAL_THREAD =
      describe(
          "a virtual thread is started",
          access ->
              target(access)
                  .matches(
                      "java\\.lang\\.Thread\\.(ofVirtual|startVirtualThread)"
                          + "|java\\.util\\.concurrent\\.Executors\\.newVirtualThread.*"));

  private static String target(JavaAccess<?> access) {
    return access.getTargetOwner().getFullName() + "." + access.getTarget().getName();
  }
}
