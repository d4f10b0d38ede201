// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/// Accepts every chain of exactly one certificate. TLS then provides a secret channel to an unknown
/// peer, and the proof of the job's secret, which covers the channel's keys, authenticates it. It
/// must never be the only check.
final class TrustByProof extends X509ExtendedTrustManager {

  private static final X509Certificate[] NO_AUTHORITY = {};

  TrustByProof() {}

  private static void check(X509Certificate[] chain) throws CertificateException {
    if (chain == null || chain.length != 1) {
      throw new CertificateException("a single certificate that its process has made is expected");
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    check(chain);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return NO_AUTHORITY.clone();
  }
}
