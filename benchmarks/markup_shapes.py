# ruff: noqa: E501 - markup is shown as it is written
"""Markup that holds credentials, and markup that holds none.

Each shape has one credential or two at ``KEY``, as a service, a tool or a page writes it. The
honest texts are what judges read and write: verdicts, rubrics, essays on security, code, feeds, drawings.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from typing import Final

SHAPES: Final[Mapping[str, str]] = {
    "AssumeRole": "<AssumeRoleResponse><Credentials><AccessKeyId>ASIA7XQ2RT5HXN3PLK2M</AccessKeyId>"
    "<SecretAccessKey>KEY</SecretAccessKey><SessionToken>KEY</SessionToken></Credentials>",
    "a secret key in lines": "<SecretAccessKey>\n    KEY\n  </SecretAccessKey>",
    "a secret key in CDATA": "<SecretAccessKey> <![CDATA[ KEY ]]> </SecretAccessKey>",
    "a secret key beside a comment": "<SecretAccessKey><!-- rotated -->KEY</SecretAccessKey>",
    "an access key of IAM": "<CreateAccessKeyResult><AccessKey><UserName>ci</UserName>"
    "<SecretAccessKey>KEY</SecretAccessKey></AccessKey></CreateAccessKeyResult>",
    "WS-Security": "<wsse:UsernameToken><wsse:Username>judge</wsse:Username>"
    '<wsse:Password Type="http://docs.oasis-open.org/wss#PasswordText">KEY</wsse:Password>'
    "</wsse:UsernameToken>",
    "WS-Trust": "<t:RequestedProofToken><t:BinarySecret>KEY</t:BinarySecret>",
    "BinarySecurityToken": '<o:BinarySecurityToken ValueType="X" wsu:Id="u">KEY</o:BinarySecurityToken>',
    "an unknown prefix": "<ns17:clientSecret xmlns:ns17='urn:x'>KEY</ns17:clientSecret>",
    "SAML in a form": '<form method="post" action="https://sp.example/acs">'
    '<input type="hidden" name="SAMLResponse" value="KEY"/></form>',
    "an encrypted assertion": "<xenc:CipherData><xenc:CipherValue>\nKEY\n</xenc:CipherValue>",
    "a signature": "<ds:SignatureValue>KEY</ds:SignatureValue>",
    "storage keys": "<StorageServiceKeys><Primary>KEY</Primary><Secondary>KEY</Secondary>",
    "a delegation key": "<UserDelegationKey><SignedOid>5e1d3b9c-7f7a-4a0b-9f1b-0d8c5a2e7b10"
    "</SignedOid><SignedExpiry>2026-05-01T12:00:00Z</SignedExpiry><Value>KEY</Value>"
    "</UserDelegationKey>",
    "a publish profile": '<publishProfile publishMethod="MSDeploy" userName="$app" userPWD="KEY" />',
    "a connection string": '<connectionStrings><add name="Main" providerName="System.Data" '
    'connectionString="Server=tcp:db.example,1433;User ID=app;Password=KEY;Encrypt=True" />',
    "a connection string within one": '<add name="E" connectionString="metadata=res://*/M.csdl;'
    'provider connection string=&quot;data source=db;password=KEY&quot;" />',
    "a service bus": '<add key="Bus" value="Endpoint=sb://b.example/;SharedAccessKeyName=Root;'
    'SharedAccessKey=KEY" />',
    "appSettings": '<appSettings><add key="Payment:ApiKey" value="KEY" /></appSettings>',
    "appSettings, value first": "<add value='KEY' key='JwtSigningKey'/>",
    "appSettings over lines": '<add\n    key="StripeSecretKey"\n    value="KEY"\n/>',
    "a machine key": '<machineKey validationKey="KEY" decryption="AES" decryptionKey="KEY" />',
    "settings of .NET": '<setting name="ApiToken" serializeAs="String"><value>KEY</value></setting>',
    "NuGet": '<packageSourceCredentials><Feed><add key="Username" value="ci" />'
    '<add key="ClearTextPassword" value="KEY" /></Feed></packageSourceCredentials>',
    "keys of NuGet": '<apikeys><add key="https://feed.example/v3/" value="KEY" /></apikeys>',
    "Maven": "<servers><server><id>central</id><username>ci</username><password>KEY</password>",
    "a passphrase of Maven": "<server><id>gpg</id><passphrase>{KEY}</passphrase></server>",
    "a property of Maven": '<property name="hibernate.connection.password">KEY</property>',
    "an attribute of Spring": '<property name="password" value="KEY"/>',
    "Tomcat": '<Resource name="jdbc/db" username="app" password="KEY" maxTotal="20"/>',
    "Java properties": '<entry key="spring.datasource.password">KEY</entry>',
    "a map of XStream": "<entry><string>apiToken</string><string>KEY</string></entry>",
    "Jenkins": "<org.plain.StringCredentialsImpl><id>judge</id><secret>{KEY}</secret>",
    "a user of Jenkins": "<com.UsernamePasswordCredentialsImpl plugin='c@1.2'><username>ci</username>"
    "<password>{KEY}</password><usernameSecret>false</usernameSecret>",
    "Android": '<resources><string name="maps_api_key" translatable="false">KEY</string>',
    "a plist": "<dict><key>ClientSecret</key>\n\t<string>KEY</string></dict>",
    "data of a plist": "<dict><key>session-token</key><data>\n\tKEY\n\t</data></dict>",
    "Windows setup": "<AdministratorPassword><Value>KEY</Value><PlainText>false</PlainText>"
    "</AdministratorPassword>",
    "a parameter of a stack": "<member><ParameterKey>DbPassword</ParameterKey>"
    "<ParameterValue>KEY</ParameterValue></member>",
    "OAuth": "<OAuth><access_token>KEY</access_token><token_type>bearer</token_type></OAuth>",
    "OAuth 1": "<oauth_token_secret>KEY</oauth_token_secret>",
    "an authorization": "<header><Authorization>Basic KEY</Authorization></header>",
    "a header by its name": '<header name="X-Api-Key">KEY</header>',
    "a hidden token": '<input type="hidden" name="access_token" value="KEY">',
    "a csrf token": '<meta name="csrf-token" content="KEY" />',
    "a csrf token of Django": "<input type='hidden' name='csrfmiddlewaretoken' value='KEY'>",
    "a token of Rails": '<input name="authenticity_token" type="hidden" value="KEY"/>',
    "a token of ASP.NET": '<input name="__RequestVerificationToken" type="hidden" value="KEY" />',
    "without quotes": "<input type=hidden name=csrf_token value=KEY>",
    "a password box": '<INPUT TYPE="password" NAME="field3" VALUE="KEY">',
    "a session": '<input type="hidden" name="PHPSESSIONID" value="KEY">',
    "a data attribute": '<div id="app" data-theme="dark" data-api-key="KEY"></div>',
    "an element of a page": '<my-app access-token="KEY" locale="en"></my-app>',
    "a table": "<tr><td><b>API key:</b></td><td><code>KEY</code></td></tr>",
    "a list of terms": "<dl><dt>Client secret</dt><dd>KEY</dd></dl>",
    "a `>` in a quote": '<input data-rule="a>b" name="api_key" value="KEY">',
    "not closed": "<login><password>KEY",
    "in a comment": "<!-- <password>KEY</password> -->",
    "a query in a link": '<a href="https://h.example/x?page=2&amp;access_token=KEY">next</a>',
    "SOAP": "<soapenv:Body><v1:login><v1:user>ci</v1:user><v1:passwd>KEY</v1:passwd></v1:login>",
    "PowerShell": '<Obj><MS><S N="Name">judge</S><SS N="Password">KEY</SS></MS></Obj>',
    "WordPress": "<member><name>password</name><value><string>KEY</string></value></member>",
    "an assertion of a client": "<client_assertion>KEY</client_assertion>",
    "a ticket": "<cas:proxyGrantingTicket>PGT-KEY</cas:proxyGrantingTicket>",
    "a secret string": "<SecretString>KEY</SecretString>",
    "settings in CDATA": "<config><![CDATA[user=ci\npassword=KEY\n]]></config>",
    "a key of RSA": "<RSAKeyValue><Modulus>KEY</Modulus><Exponent>AQAB</Exponent><D>KEY</D>"
    "</RSAKeyValue>",
    "IntelliJ": '<component name="Db"><option name="apiKey" value="KEY" /></component>',
    "FileZilla": '<Server><Host>h</Host><User>ci</User><Pass encoding="base64">KEY</Pass></Server>',
}
# How others carry markup.
CARRIED: Final[Mapping[str, Callable[[str], str]]] = {
    "as it is": lambda text: text,
    "in a reply": lambda text: json.dumps({"choices": [{"message": {"content": text}}]}),
    "in JSON within JSON": lambda text: json.dumps({"log": json.dumps({"body": text})}),
    "escaped": html.escape,
    "escaped, in a reply": lambda text: json.dumps({"content": f"It says: {html.escape(text)}"}),
    "as JSON for a page": lambda text: json.dumps({"a": text}).replace("<", "\\u003c"),
    "in CDATA": lambda text: f"<log><![CDATA[{text}]]></log>",
    "in lines of a stream": lambda text: f"data: {json.dumps({'text': text})}\n\ndata: [DONE]\n\n",
}
HONEST: Final[Mapping[str, str]] = {
    "a verdict": "<authorization>GRANTED</authorization><token>A</token><key>B</key>",
    "a verdict in words": "<password>The password rule is met, see section 4.2.</password>",
    "a rubric": '<rubric><criterion key="password" weight="2">Uses no weak password</criterion>'
    "<token>correct horse battery staple</token><key>clarity-and-tone-2024</key>"
    "<secret>none of the 12 answers</secret><session>debate-03-round-2</session></rubric>",
    "fields of a rubric": "<answer><token>item-0042-variant-b</token><signature>Judge-7-of-12"
    "</signature><password>correct</password><auth>Level-3-clearance</auth></answer>",
    "an essay": "<p>In <code>&lt;wsse:Password&gt;</code> the password goes as a digest: 32 bytes. "
    "Never log an <em>access token</em>, rotate the <b>API key</b> every 90 days.</p>",
    "an essay on names": "Put the key into <password> and the token into <token>. Then run it: "
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b of 2024-05-01 has the schema.",
    "a placeholder": "<password>${env.DB_PASSWORD_2}</password><apiKey>YOUR_API_KEY_HERE</apiKey>"
    '<add key="ApiKey" value="#{ApiKey1}#"/><secret>{{ github_token_v2 }}</secret>',
    "a placeholder of Android": '<meta-data android:name="api_key" android:value="@string/api_key1"/>',
    "masked": "<password>********</password><token>xxxxxxxxxxxxxxxxxxxx</token>",
    "DocBook": "<indexterm><primary>tokens-per-minute-2024</primary><secondary>limits</secondary>"
    "</indexterm><para>The <parameter>password</parameter> parameter, since v1.2.3-beta4.</para>",
    "a drawing": '<svg viewBox="0 0 24 24"><path id="key" d="M10.5,2.25a8.25,8.25,0,1,0,5.2,14.6Z"/>'
    '<use xlink:href="#token-icon-24"/><stop offset="0.5" stop-color="#a1b2c3"/></svg>',
    "a list of objects": "<Contents><Key>photos/2026/01/9f86d081884c7d65/img_0042.jpeg</Key>"
    "<ETag>&quot;9f86d081884c7d659a2feaa0c55ad015&quot;</ETag></Contents>",
    "code": 'if password="abc" and x<y and token=="b2" : return x>3',
    "code with generics": "Map<String, Token> tokens = new HashMap<>(); List<Key> keys = load(2024);",
    "JSX": '<Login password="demo" authorization="none" key="row-12-of-20" token={props.token1} />',
    "a form": '<input type="password" name="password" placeholder="At least 8 characters" '
    'id="password1" autocomplete="current-password"><label for="password1">Password</label>',
    "a form with a value": '<input type="hidden" name="token" value="step-2-of-4">',
    "a weak password": '<label password="weak">Password</label><passphrase>is too short</passphrase>',
    "ids": "<org-id>12</org-id><session>550e8400</session><token>1234567890123456</token>",
    "dates": "<session>2026-05-01T12:00:00Z</session><token>2026-05-01</token>",
    "limits": '<limits max_tokens="4096" tokens="1,024" total-tokens="128000"/>',
    "a digest": "<checksum>9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08</checksum>",
    "an image": '<img alt="key" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA1b2">',
    "styles": '<td style="color:red;width:12px" class="token-keyword-2">secret</td><td>12 of 20</td>',
    "a table of results": "<tr><td>Password</td><td>claude-3-5-sonnet-20241022</td></tr>"
    "<tr><td>Token</td><td>gpt-4o-mini-2024-07-18</td></tr>",
    "a strings file": '<string name="password_hint">Use 8 to 20 characters</string>'
    '<string name="password">Passwort</string><string name="token">Jeton</string>',
    "a plist of words": "<key>password</key><string>required</string><key>token</key><true/>",
    "a web.config": '<add key="TokenLifetime" value="00:20:00"/><add name="Main" '
    'connectionString="Server=db;Integrated Security=True;Database=judge2024"/>'
    '<authentication mode="Forms"/><pages validateRequest="true" publicKeyToken="null"/>',
    "a POM": "<artifactId>spring-security-oauth2-jose</artifactId><version>6.2.1</version>"
    "<password.encoder>BCryptPasswordEncoder</password.encoder>",
    "a schema": '<xs:element name="password" type="xs:string" minOccurs="1"/>'
    '<xs:attribute name="token" type="tns:TokenType2"/>',
    "URLs": "<token>https://idp.example.com/realms/acme7/protocol/openid-connect/token</token>",
    "thinking": "<thinking>The key is B2, the token count 1,024; password: no.</thinking><key>B2</key>",
    "other scripts": "<password>\u6b63\u89e3\u306f\u3053\u308c\u3067\u3059\u30022024\u5e74</password>"
    "<token>\u043e\u0442\u0432\u0435\u04422024\u043f\u0440\u0430\u0432\u0438\u043b\u044c\u043d\u044b\u0439</token>",
    "escaped": "&lt;password&gt;correct horse&lt;/password&gt; &lt;token&gt;A-12&lt;/token&gt;",
    "a ticket of a tracker": "<ticket>JUDGE-1042</ticket><ticket>https://t.example/browse/JUDGE-1042</ticket>",
    "assignments": "<pre>token = next(tokens)\nkey=values[2]\npassword=getpass()\nsecret=None</pre>",
    "an entity": '<signature name="Ada Lovelace" date="1843-10-18">A. A. L.</signature>',
    "already removed": "<password>[secret: field password]</password><token>REDACTED</token>",
}
