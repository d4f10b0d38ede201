// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import io.weft.transport.spi.Encryption;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLKeyException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/// One process as a TLS party: its key, its certificate and its trust anchors. It allows only TLS
/// 1.3 with certificates on both sides, and never resumes a session. Thread-safe.
public final class TlsParty {

  private static final int BINDING_BYTES = 32;

  private static final String[] PROTOCOLS = {"TLSv1.3"};
  private static final String[] SUITES = {
    "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"
  };
  private static final String BINDING_LABEL = "EXPORTER-weft-job-proof";

  /// A ticket lives for at most a week, so that the JDK issues none for a longer session.
  private static final int NO_TICKET_SECONDS = 604_800 + 1;

  private final SSLContext context;

  private TlsParty(SSLContext context) {
    this.context = context;
  }

  /// Creates a party with these certificates, or with a new self-signed one. Throws
  /// `IllegalArgumentException` if key, certificates and authorities do not match.
  public static TlsParty of(Encryption.Tls encryption) {
    try {
      return switch (encryption) {
        case Encryption.Ephemeral() -> {
          SelfSigned own = SelfSigned.fresh();
          yield of(own.key(), List.of(own.certificate()), new TrustManager[] {new TrustByProof()});
        }
        case Encryption.Certified(var chain, var key, var authorities) ->
            of(key, chain, believing(authorities));
      };
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "TLS cannot use this key and these certificates: " + e.getMessage(), e);
    }
  }

  private static TlsParty of(PrivateKey key, List<X509Certificate> chain, TrustManager[] trust)
      throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(new KeyManager[] {new OwnKey(key, chain)}, trust, null);
    context.getServerSessionContext().setSessionTimeout(NO_TICKET_SECONDS);
    context.getServerSessionContext().setSessionCacheSize(1);
    context.getClientSessionContext().setSessionCacheSize(1);
    return new TlsParty(context);
  }

  private static TrustManager[] believing(List<X509Certificate> authorities)
      throws GeneralSecurityException {
    Set<TrustAnchor> anchors =
        authorities.stream()
            .map(authority -> new TrustAnchor(authority, null))
            .collect(Collectors.toSet());
    PKIXBuilderParameters parameters = new PKIXBuilderParameters(anchors, null);
    parameters.setRevocationEnabled(false);
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(new CertPathTrustManagerParameters(parameters));
    return trust.getTrustManagers();
  }

  /// Creates the pipe of a connection that this process initiates. The engine does not know the
  /// peer's name, so that the JDK finds no session to resume.
  public TlsPipe call() {
    return new TlsPipe(engine(true));
  }

  /// Creates the pipe of a connection that a peer has initiated.
  public TlsPipe answer() {
    return new TlsPipe(engine(false));
  }

  private SSLEngine engine(boolean client) {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(client);
    engine.setSSLParameters(parameters());
    return engine;
  }

  private static SSLParameters parameters() {
    SSLParameters parameters = new SSLParameters(SUITES.clone(), PROTOCOLS.clone());
    parameters.setNeedClientAuth(true);
    return parameters;
  }

  /// Returns 32 bytes that only the two ends of this connection know [RFC8446 §7.5]. A proof that
  /// covers them is invalid on another connection. The handshake must have completed.
  static byte[] binding(SSLSession session) throws SSLKeyException {
    if (session instanceof ExtendedSSLSession extended) {
      return extended.exportKeyingMaterialData(BINDING_LABEL, new byte[0], BINDING_BYTES);
    }
    throw new SSLKeyException("this TLS does not export keying material");
  }
}
