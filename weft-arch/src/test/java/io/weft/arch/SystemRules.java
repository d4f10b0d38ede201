// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;

/// Where the program touches the machine: sockets, native code, the clock, the terminal.
final class SystemRules {

  /// Packages whose code runs in simulated time.
  private static final String[] TIMELESS = {
    "io.weft",
    "io.weft.agent..",
    "io.weft.cluster..",
    "io.weft.collective..",
    "io.weft.comm..",
    "io.weft.config..",
    "io.weft.flight..",
    "io.weft.kv..",
    "io.weft.memory..",
    "io.weft.observer..",
    "io.weft.rendezvous..",
    "io.weft.tensor..",
    "io.weft.transport.."
  };

  private SystemRules() {}

  static List<ArchRule> all() {
    return List.of(
        noClasses()
            .that()
            .resideOutsideOfPackages(
                "io.weft.transport..", // carries the bytes
                "io.weft.cluster.store", // runs before there is a transport
                "io.weft.dataparallel.metrics", // answers whoever collects metrics
                "io.weft.launch.doctor", // tries what a transport will need
                "io.weft.launch.job", // chooses the address that remote ranks call
                "io.weft.perf.plain", // a socket without Weft, measured beside it
                "io.weft.perf.turns", // tells ranks that are measured whose turn it is
                "io.weft.testkit..",
                "io.weft.qa..")
            .should()
            .dependOnClassesThat(SOCKETS)
            .because("services know tensors, never sockets"),
        noClasses()
            .that()
            .resideOutsideOfPackages("..ffm", "io.weft.testkit..", "io.weft.qa..")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("java.lang.foreign.Linker")
            .because("whoever looks for native calls finds them in the packages named ffm"),
        noClasses()
            .that()
            .resideInAnyPackage(TIMELESS)
            .and()
            .doNotHaveFullyQualifiedName("io.weft.agent.Ticker")
            // Decides how long a kernel is warmed up; tensor knows nothing of agents.
            .and()
            .doNotHaveFullyQualifiedName("io.weft.tensor.kernel.WarmUp")
            .should()
            .accessTargetWhere(CLOCK)
            .because("time is an argument, so that protocols run in simulated time"),
        noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.weft.transport.limit.Span")
            .should()
            .accessTargetWhere(CONVERSION)
            .because("a Duration that a user gave may be longer than a long: Span saturates"),
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
            .because("a provider file may name transports whose jars are not there"),
        noClasses()
            .that()
            .resideOutsideOfPackages("io.weft.testkit..", "io.weft.qa..")
            .should()
            .accessTargetWhere(PROXIED_SOCKET)
            .because("the JVM's settings of a proxy must not carry what goes between ranks"),
        noClasses()
            .that()
            .resideOutsideOfPackages("io.weft.testkit..", "io.weft.qa..")
            .should()
            .accessTargetWhere(VIRTUAL_THREAD)
            .because(
                "a pipe, a file or a native call that blocks keeps the thread that carries it, and"
                    + " where all are kept nothing runs that would end that"));
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
