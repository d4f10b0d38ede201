// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.collective.CommunicatorObservers;
import io.weft.config.PresentProviders;
import io.weft.observer.Observers;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// The instruments of a rank, and the observers that they have added.
///
/// @param all the instruments, in the order of their providers
/// @param operations the observers of operations; later ones may be added
/// @param communicators the observers of communicators and peers
record Instruments(
    List<Instrument> all, Observers operations, CommunicatorObservers communicators) {

  /// Opens the instruments of all modules on the class path. Throws `CommException.Setup` if a
  /// provider file cannot be read.
  static Instruments open(JoiningRank rank) {
    ClassLoader loader = InstrumentProvider.class.getClassLoader();
    List<InstrumentProvider> providers =
        Transports.found(
            "instruments",
            () -> PresentProviders.of(ServiceLoader.load(InstrumentProvider.class, loader)));
    List<Instrument> opened = providers.stream().map(provider -> provider.open(rank)).toList();
    var instruments = new Instruments(opened, new Observers(), new CommunicatorObservers());
    opened.forEach(each -> each.observe(instruments.operations(), instruments.communicators()));
    return instruments;
  }

  void joined(Weft weft) {
    all.forEach(each -> each.joined(weft));
  }

  void leaving() {
    all.reversed().forEach(Instrument::leaving);
  }

  void left() {
    all.reversed().forEach(Instrument::left);
  }

  <T extends Instrument> Optional<T> find(Class<T> type) {
    return all.stream().filter(type::isInstance).map(type::cast).findFirst();
  }
}
