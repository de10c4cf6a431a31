PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE migration (
    ordinal INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO migration VALUES(1,'history.1');
INSERT INTO migration VALUES(2,'history.2');
INSERT INTO migration VALUES(3,'settings.1');
INSERT INTO migration VALUES(4,'permission.1');
INSERT INTO migration VALUES(5,'delivery.outbox.1');
INSERT INTO migration VALUES(6,'answers.1');
CREATE TABLE history (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    priority INTEGER NOT NULL,
    source TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    silenced INTEGER NOT NULL,
    late INTEGER NOT NULL,
    read INTEGER NOT NULL,
    read_at INTEGER,
    data TEXT,
    richer TEXT,
    collapse_key TEXT,
    expires_at INTEGER,
    icon TEXT,
    target TEXT
, search TEXT) STRICT;
INSERT INTO history VALUES(248,'n247','Title beta 247','body gamma',3,'pc',1729778400000,1729778400000,0,0,0,NULL,NULL,NULL,NULL,NULL,'bell',NULL,NULL);
INSERT INTO history VALUES(249,'n248','Title gamma 248','body delta',0,'pc',1729785600000,1729785600000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(250,'n249','Title delta 249','body 构建完成',1,'pc',1729792800000,1729792800000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,replace('Title delta 249\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history VALUES(251,'n250','Title 构建完成 250','body alpha',2,'mobile',1729800000000,1729800000000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,replace('Title  构  建  完  成  250\nbody alpha','\n',char(10)));
INSERT INTO history VALUES(252,'n251','Title ビルド 251','body beta',3,'pc',1729807200000,1729807200000,1,0,0,NULL,NULL,'{"silenced":true}',NULL,NULL,NULL,NULL,replace('Title  ビ  ル  ド  251\nbody beta','\n',char(10)));
INSERT INTO history VALUES(255,'n254','Title gamma 254','body 构建完成',2,'pc',1729828800000,1729828800000,1,0,0,NULL,NULL,'{"silenced":true}',NULL,NULL,NULL,NULL,replace('Title gamma 254\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history VALUES(256,'n255','Title delta 255','body alpha',3,'mobile',1729836000000,1729836000000,1,0,1,1730592000000,NULL,'{"silenced":true,"deepLink":"app://x","threadId":"t"}',NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(257,'n256','Title 构建完成 256','body beta',0,'pc',1729843200000,1729843200000,1,0,0,NULL,NULL,'{"silenced":true}',NULL,NULL,NULL,NULL,replace('Title  构  建  完  成  256\nbody beta','\n',char(10)));
INSERT INTO history VALUES(258,'n257','Title ビルド 257','body gamma',1,'pc',1729850400000,1729850400000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,replace('Title  ビ  ル  ド  257\nbody gamma','\n',char(10)));
INSERT INTO history VALUES(259,'n258','Title alpha 258','body delta',2,'pc',1729857600000,1729857600000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(260,'n259','Title beta 259','body 构建完成',3,'pc',1729864800000,1729864800000,0,0,0,NULL,'{"n":259,"t":"é\"x"}',NULL,NULL,NULL,NULL,NULL,replace('Title beta 259\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history VALUES(261,'n260','Title gamma 260','body alpha',0,'mobile',1729872000000,1729872000000,0,0,1,1730592000000,NULL,NULL,NULL,NULL,'bell',NULL,NULL);
INSERT INTO history VALUES(263,'n262','Title 构建完成 262','body gamma',2,'pc',1729886400000,1729886400000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,replace('Title  构  建  完  成  262\nbody gamma','\n',char(10)));
INSERT INTO history VALUES(264,'n263','Title ビルド 263','body delta',3,'pc',1729893600000,1729893600000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',replace('Title  ビ  ル  ド  263\nbody delta','\n',char(10)));
INSERT INTO history VALUES(265,'n264','Title alpha 264','body 构建完成',0,'pc',1729900800000,1729900800000,0,0,0,NULL,NULL,'{"expiresAt":1814400000000}',NULL,1814400000000,NULL,NULL,replace('Title alpha 264\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history VALUES(266,'n265','Title beta 265','body alpha',1,'mobile',1729908000000,1729908000000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(267,'n266','Title gamma 266','body beta',2,'pc',1729915200000,1729915200000,0,0,1,1730592000000,'{"n":266,"t":"é\"x"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(268,'n267','Title delta 267','body gamma',3,'pc',1729922400000,1729922400000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(270,'n269','Title ビルド 269','body 构建完成',1,'pc',1729936800000,1729936800000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,replace('Title  ビ  ル  ド  269\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history VALUES(272,'n271','Title beta 271','body beta',3,'pc',1729951200000,1729951200000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(273,'n272','Title gamma 272','body gamma',0,'pc',1729958400000,1729958400000,0,0,0,NULL,NULL,'{"deepLink":"app://x","threadId":"t"}',NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(274,'n273','Title delta 273','body delta',1,'pc',1729965600000,1729965600000,0,0,0,NULL,'{"n":273,"t":"é\"x"}',NULL,NULL,NULL,'bell','did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',NULL);
INSERT INTO history VALUES(275,'n274','Title 构建完成 274','body 构建完成',2,'pc',1729972800000,1729972800000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,replace('Title  构  建  完  成  274\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history VALUES(276,'n275','Title ビルド 275','body alpha',3,'mobile',1729980000000,1729980000000,0,0,1,1730592000000,NULL,'{"expiresAt":1814400000000}',NULL,1814400000000,NULL,NULL,replace('Title  ビ  ル  ド  275\nbody alpha','\n',char(10)));
INSERT INTO history VALUES(277,'n276','Title alpha 276','body beta',0,'pc',1729987200000,1729987200000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(278,'n277','Title beta 277','body gamma',1,'pc',1729994400000,1729994400000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(279,'n278','Title gamma 278','body delta',2,'pc',1730001600000,1730001600000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(280,'n279','Title delta 279','body 构建完成',3,'pc',1730008800000,1730008800000,0,0,0,NULL,NULL,'{"collapseKey":"key1"}','key1',NULL,NULL,NULL,replace('Title delta 279\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history VALUES(281,'n280','Title 构建完成 280','body alpha',0,'mobile',1730016000000,1730016000000,0,0,0,NULL,'{"n":280,"t":"é\"x"}',NULL,NULL,NULL,NULL,NULL,replace('Title  构  建  完  成  280\nbody alpha','\n',char(10)));
INSERT INTO history VALUES(282,'n281','Title ビルド 281','body beta',1,'pc',1730023200000,1730023200000,0,0,1,1730592000000,NULL,NULL,NULL,NULL,NULL,NULL,replace('Title  ビ  ル  ド  281\nbody beta','\n',char(10)));
INSERT INTO history VALUES(283,'n282','Title alpha 282','body gamma',2,'pc',1730030400000,1730030400000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(284,'n283','Title beta 283','body delta',3,'pc',1730037600000,1730037600000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',NULL);
INSERT INTO history VALUES(286,'n285','Title delta 285','body alpha',1,'mobile',1730052000000,1730052000000,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(287,'n286','Title 构建完成 286','body beta',2,'pc',1730059200000,1730059200000,0,0,0,NULL,NULL,'{"expiresAt":1814400000000}',NULL,1814400000000,'bell',NULL,replace('Title  构  建  完  成  286\nbody beta','\n',char(10)));
INSERT INTO history VALUES(288,'n287','Title ビルド 287','body gamma',3,'pc',1730066400000,1730066400000,0,0,0,NULL,'{"n":287,"t":"é\"x"}',NULL,NULL,NULL,NULL,NULL,replace('Title  ビ  ル  ド  287\nbody gamma','\n',char(10)));
INSERT INTO history VALUES(289,'n288','Title alpha 288','body delta',0,'pc',1730073600000,1730073600000,0,0,0,NULL,NULL,'{"collapseKey":"key0"}','key0',NULL,NULL,NULL,NULL);
INSERT INTO history VALUES(290,'n289','Title beta 289','body 构建完成',1,'pc',1730080800000,1730080800000,0,0,0,NULL,NULL,'{"deepLink":"app://x","threadId":"t"}',NULL,NULL,NULL,NULL,replace('Title beta 289\nbody  构  建  完  成 ','\n',char(10)));
CREATE TABLE history_count (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    total INTEGER NOT NULL,
    unread INTEGER NOT NULL
) STRICT;
INSERT INTO history_count VALUES(1,37,32);
CREATE TABLE history_tally (
    day INTEGER NOT NULL,
    source TEXT NOT NULL,
    priority INTEGER NOT NULL,
    read INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (day, source, priority, read)
) STRICT, WITHOUT ROWID;
INSERT INTO history_tally VALUES(20020,'mobile',2,0,1);
INSERT INTO history_tally VALUES(20020,'pc',0,0,1);
INSERT INTO history_tally VALUES(20020,'pc',1,0,1);
INSERT INTO history_tally VALUES(20020,'pc',3,0,2);
INSERT INTO history_tally VALUES(20021,'mobile',0,0,0);
INSERT INTO history_tally VALUES(20021,'mobile',0,1,1);
INSERT INTO history_tally VALUES(20021,'mobile',3,0,0);
INSERT INTO history_tally VALUES(20021,'mobile',3,1,1);
INSERT INTO history_tally VALUES(20021,'pc',0,0,1);
INSERT INTO history_tally VALUES(20021,'pc',1,0,1);
INSERT INTO history_tally VALUES(20021,'pc',2,0,3);
INSERT INTO history_tally VALUES(20021,'pc',3,0,2);
INSERT INTO history_tally VALUES(20022,'mobile',1,0,1);
INSERT INTO history_tally VALUES(20022,'mobile',3,0,0);
INSERT INTO history_tally VALUES(20022,'mobile',3,1,1);
INSERT INTO history_tally VALUES(20022,'pc',0,0,2);
INSERT INTO history_tally VALUES(20022,'pc',1,0,2);
INSERT INTO history_tally VALUES(20022,'pc',2,0,1);
INSERT INTO history_tally VALUES(20022,'pc',2,1,1);
INSERT INTO history_tally VALUES(20022,'pc',3,0,2);
INSERT INTO history_tally VALUES(20023,'mobile',0,0,1);
INSERT INTO history_tally VALUES(20023,'mobile',1,0,1);
INSERT INTO history_tally VALUES(20023,'pc',0,0,1);
INSERT INTO history_tally VALUES(20023,'pc',1,0,1);
INSERT INTO history_tally VALUES(20023,'pc',1,1,1);
INSERT INTO history_tally VALUES(20023,'pc',2,0,3);
INSERT INTO history_tally VALUES(20023,'pc',3,0,3);
INSERT INTO history_tally VALUES(20024,'pc',0,0,1);
INSERT INTO history_tally VALUES(20024,'pc',1,0,1);
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','history_text','history_text',0,'CREATE VIRTUAL TABLE history_text USING fts5(
    title, body, search, content=''history'', content_rowid=''row'',
    tokenize=''unicode61 remove_diacritics 2'', prefix=''2 3'')');
CREATE TABLE IF NOT EXISTS 'history_text_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO history_text_data VALUES(1,X'26724c811a');
INSERT INTO history_text_data VALUES(10,X'000000000104040004010101020101030101040101');
INSERT INTO history_text_data VALUES(137438953473,X'00000f3c0430323133815602040301348157080401020703013581580804010206030137815a0204030138815b0204030139815c080401020402023230815d0804010207030131815e0804010206030132815f02040301338160020403013481610804010204030135816202040301368163080401020703013781640804010206030138816502040301398166080401020402023330816702040301318168020403013281690804010207030133816a0804010206030135816c0204030136816d0204030137816e0204030138816f08040102070301398170080401020602023430817102040301318172020403013281730204030133817402040301348175080401020703013581760804010206030136817702040301378178020403013881790204030139817a080401020402023530817b0804010207030131817c0804010206030132817d0204030133817e0204030134817f0804010204030135820002040105616c70686181580c010103010208050c010103010209020203030601010303020302060101030506010103050803010103050c010103010208010203040c0101030102090202030306010103010462657461815a0203040c010103010208020203030c010103010209030803010203020601010304020301060101030508030101030506010103010203040c01010301020802020302036f6479815606010102010c010102010208010c01010201020702060101020106010102010c010102010205010c010102010208010c01010201020701060101020106010102010c0101020102050106010102010c010102010208010c0101020102070106010102010c01010201020501060101020106010102010c010102010208010c010102010207020601010201060101020106010102010c010102010208010c0101020102070106010102010601010201060101020106010102010c010102010208010c010102010207010601010201060101020106010102010c010102010205010c010102010208010c01010201020701060101020106010102010c0101020102050106010102010564656c746181560803010103050601010301080301020304060101030202030306010103030203020c010103010208040203010c01010301020905080301010305060101030108030102030406010103020203010567616d6d61815a060101030102030406010103020803010203030c010103010208030203020c01010301020904020301060101030508030101030506010103010203040601010302080301020301057469746c65815602020108020102020108020102020202020102020108020102020108020102020108020102020102020102020108020102020102020108020102020108020102020102020108020102020102020102020108020102020108020102020202020102020102020108020102020108020102020102020102020102020102020108020102020108020102020102020102020102020108020102020108020102020108020102020102020102020108020102020102020103e383898158060102050606010205060601020506060102050606010205060601020506060102050301938158060102030606010203060601020306060102030606010203060601020306060102030406e383abe38389815802030602030602030602030602030602030602030301ab8158060102040606010204060601020406060102040606010204060601020406060102040103e5ae8c815708010205080506010208010601020504060102080206010205030601020803060102050606010205010601020a0508010205080506010208010601020504060102080202bbba81570801020408050601020701060102040406010207020601020403060102070306010204060601020401060102090508010204080506010207010601020404060102070103e68890815708010206080506010209010601020604060102090206010206030601020903060102060606010206010601020b05080102060805060102090106010206040601020902029e8481570801020308050601020601060102030406010206020601020303060102060306010203060601020301060102080508010203080506010206010601020304060102060409e5bbbae5ae8ce6889081570803010103050601010301020304060101030202030306010103030203060203010601010305080301010305060101030102030406010103000331323181560204010804010207010804010206020204010204010804010204020132815d08040102070108040102060102040102040108040102040102040108040102070108040102060102040108040102040201338167020401020401080401020701080401020602020401020401020401080401020701080401020602013481710204010204010204010204010804010207010804010206010204010204010204010804010204020135817b08040102070108040102060102040102040108040102040102040102616c81580c010103010208050c010103010209020203030601010303020302060101030506010103050803010103050c010103010208010203040c010103010209020203030601010301026265815a0203040c010103010208020203030c010103010209030803010203020601010304020301060101030508030101030506010103010203040c01010301020802020302016f815606010102010c010102010208010c01010201020702060101020106010102010c010102010205010c010102010208010c01010201020701060101020106010102010c0101020102050106010102010c010102010208010c0101020102070106010102010c01010201020501060101020106010102010c010102010208010c010102010207020601010201060101020106010102010c010102010208010c0101020102070106010102010601010201060101020106010102010c010102010208010c010102010207010601010201060101020106010102010c010102010205010c010102010208010c01010201020701060101020106010102010c01010201020501060101020102646581560803010103050601010301080301020304060101030202030306010103030203020c010103010208040203010c0101030102090508030101030506010103010803010203040601010302020301026761815a060101030102030406010103020803010203030c010103010208030203020c01010301020904020301060101030508030101030506010103010203040601010302080301020301027469815602020108020102020108020102020202020102020108020102020108020102020108020102020102020102020108020102020102020108020102020108020102020102020108020102020102020102020108020102020108020102020202020102020102020108020102020108020102020102020102020102020102020108020102020108020102020102020102020102020108020102020108020102020108020102020102020102020108020102020102020106e38393e383ab815802030602030602030602030602030602030602030106e69e84e5bbba81570803010103050601010301020304060101030202030306010103030203060203010601010305080301010305060101030102030406010103000432323133815602040301348157080401020703013581580804010206030137815a0204030138815b0204030139815c080401020402023230815d0804010207030131815e0804010206030132815f02040301338160020403013481610804010204030135816202040301368163080401020703013781640804010206030138816502040301398166080401020402023330816702040301318168020403013281690804010207030133816a0804010206030135816c0204030136816d0204030137816e0204030138816f08040102070301398170080401020602023430817102040301318172020403013281730204030133817402040301348175080401020703013581760804010206030136817702040301378178020403013881790204030139817a080401020402023530817b0804010207030131817c0804010206030132817d0204030133817e0204030134817f0804010204030135820002040103616c7081580c010103010208050c010103010209020203030601010303020302060101030506010103050803010103050c010103010208010203040c01010301020902020303060101030103626574815a0203040c010103010208020203030c010103010209030803010203020601010304020301060101030508030101030506010103010203040c01010301020802020302026f64815606010102010c010102010208010c01010201020702060101020106010102010c010102010205010c010102010208010c01010201020701060101020106010102010c0101020102050106010102010c010102010208010c0101020102070106010102010c01010201020501060101020106010102010c010102010208010c010102010207020601010201060101020106010102010c010102010208010c0101020102070106010102010601010201060101020106010102010c010102010208010c010102010207010601010201060101020106010102010c010102010205010c010102010208010c01010201020701060101020106010102010c0101020102050106010102010364656c81560803010103050601010301080301020304060101030202030306010103030203020c010103010208040203010c01010301020905080301010305060101030108030102030406010103020203010367616d815a060101030102030406010103020803010203030c010103010208030203020c0101030102090402030106010103050803010103050601010301020304060101030208030102030103746974815602020108020102020108020102020202020102020108020102020108020102020108020102020102020102020108020102020102020108020102020108020102020102020108020102020102020102020108020102020108020102020202020102020102020108020102020108020102020102020102020102020102020108020102020108020102020102020102020102020108020102020108020102020108020102020102020102020108020102020102020109e38393e383abe38389815802030602030602030602030602030602030602030109e69e84e5bbbae5ae8c8157080301010305060101030102030406010103020203030601010303020306020301060101030508030101030506010103010203040601010304090a0a07070a0b0a07070a070a0a070a08070a0a0707070a0a080707070a0a0707070a0b0a07070a074e49820c554f813c29271e27494849484521342b2b1f4b47820a524c81391e420a0a0a07070a0b0a07070a070a0a070a08070a0a0707070a0a080707070a0a0707070a0b0a07070a074c48820b534d813a21');
INSERT INTO history_text_data VALUES(274877906945,X'0000008004303232358162010105616c7068618162010104626f6479816201010564656c746181620101057469746c6581620100033132328162010102616c8162010102626f81620101026465816201010274698162010004323232358162010103616c708162010103626f64816201010364656c816201010374697481620104080a090a0a080707070709080808');
INSERT INTO history_text_data VALUES(412316860417,X'000000800430323532817d010105616c706861817d010104626f6479817d01010567616d6d61817d0101057469746c65817d010003313235817d010102616c817d010102626f817d0101026761817d0101027469817d01000432323532817d010103616c70817d010103626f64817d01010367616d817d010103746974817d0104080a090a0a080707070709080808');
INSERT INTO history_text_data VALUES(549755813889,X'0000007c0430323533817e01010462657461817e0102036f6479817e01010564656c7461817e0101057469746c65817e010003313235817e0101026265817e0102016f817e0101026465817e0101027469817e01000432323533817e010103626574817e0102026f64817e01010364656c817e010103746974817e01040809080a0a080706070709080708');
CREATE TABLE IF NOT EXISTS 'history_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO history_text_idx VALUES(1,X'',2);
INSERT INTO history_text_idx VALUES(2,X'',2);
INSERT INTO history_text_idx VALUES(3,X'',2);
INSERT INTO history_text_idx VALUES(4,X'',2);
CREATE TABLE IF NOT EXISTS 'history_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO history_text_docsize VALUES(214,X'030200');
INSERT INTO history_text_docsize VALUES(215,X'03020b');
INSERT INTO history_text_docsize VALUES(216,X'030207');
INSERT INTO history_text_docsize VALUES(218,X'030200');
INSERT INTO history_text_docsize VALUES(219,X'030200');
INSERT INTO history_text_docsize VALUES(220,X'030208');
INSERT INTO history_text_docsize VALUES(221,X'030208');
INSERT INTO history_text_docsize VALUES(222,X'030207');
INSERT INTO history_text_docsize VALUES(223,X'030200');
INSERT INTO history_text_docsize VALUES(224,X'030200');
INSERT INTO history_text_docsize VALUES(225,X'030208');
INSERT INTO history_text_docsize VALUES(227,X'030208');
INSERT INTO history_text_docsize VALUES(228,X'030207');
INSERT INTO history_text_docsize VALUES(229,X'030200');
INSERT INTO history_text_docsize VALUES(230,X'030208');
INSERT INTO history_text_docsize VALUES(231,X'030200');
INSERT INTO history_text_docsize VALUES(232,X'030200');
INSERT INTO history_text_docsize VALUES(233,X'030208');
INSERT INTO history_text_docsize VALUES(234,X'030207');
INSERT INTO history_text_docsize VALUES(236,X'030200');
INSERT INTO history_text_docsize VALUES(237,X'030200');
INSERT INTO history_text_docsize VALUES(238,X'030200');
INSERT INTO history_text_docsize VALUES(239,X'030208');
INSERT INTO history_text_docsize VALUES(240,X'03020a');
INSERT INTO history_text_docsize VALUES(241,X'030200');
INSERT INTO history_text_docsize VALUES(242,X'030200');
INSERT INTO history_text_docsize VALUES(243,X'030200');
INSERT INTO history_text_docsize VALUES(244,X'030200');
INSERT INTO history_text_docsize VALUES(245,X'03020b');
INSERT INTO history_text_docsize VALUES(246,X'030207');
INSERT INTO history_text_docsize VALUES(247,X'030200');
INSERT INTO history_text_docsize VALUES(248,X'030200');
INSERT INTO history_text_docsize VALUES(249,X'030200');
INSERT INTO history_text_docsize VALUES(250,X'030208');
INSERT INTO history_text_docsize VALUES(251,X'030208');
INSERT INTO history_text_docsize VALUES(252,X'030207');
INSERT INTO history_text_docsize VALUES(255,X'030208');
INSERT INTO history_text_docsize VALUES(256,X'030200');
CREATE TABLE IF NOT EXISTS 'history_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO history_text_config VALUES('version',4);
CREATE TABLE history_indexed (one INTEGER PRIMARY KEY CHECK (one = 1), through INTEGER NOT NULL) STRICT;
INSERT INTO history_indexed VALUES(1,256);
CREATE TABLE history_gone (
    row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT
) STRICT;
INSERT INTO history_gone VALUES(214,'Title delta 213','body delta',NULL);
INSERT INTO history_gone VALUES(215,'Title 构建完成 214','body 构建完成',replace('Title  构  建  完  成  214\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history_gone VALUES(216,'Title ビルド 215','body alpha',replace('Title  ビ  ル  ド  215\nbody alpha','\n',char(10)));
INSERT INTO history_gone VALUES(218,'Title beta 217','body gamma',NULL);
INSERT INTO history_gone VALUES(219,'Title gamma 218','body delta',NULL);
INSERT INTO history_gone VALUES(220,'Title delta 219','body 构建完成',replace('Title delta 219\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history_gone VALUES(221,'Title 构建完成 220','body alpha',replace('Title  构  建  完  成  220\nbody alpha','\n',char(10)));
INSERT INTO history_gone VALUES(222,'Title ビルド 221','body beta',replace('Title  ビ  ル  ド  221\nbody beta','\n',char(10)));
INSERT INTO history_gone VALUES(223,'Title alpha 222','body gamma',NULL);
INSERT INTO history_gone VALUES(224,'Title beta 223','body delta',NULL);
INSERT INTO history_gone VALUES(225,'Title gamma 224','body 构建完成',replace('Title gamma 224\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history_gone VALUES(227,'Title 构建完成 226','body beta',replace('Title  构  建  完  成  226\nbody beta','\n',char(10)));
INSERT INTO history_gone VALUES(228,'Title ビルド 227','body gamma',replace('Title  ビ  ル  ド  227\nbody gamma','\n',char(10)));
INSERT INTO history_gone VALUES(229,'Title alpha 228','body delta',NULL);
INSERT INTO history_gone VALUES(230,'Title beta 229','body 构建完成',replace('Title beta 229\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history_gone VALUES(231,'Title gamma 230','body alpha',NULL);
INSERT INTO history_gone VALUES(232,'Title delta 231','body beta',NULL);
INSERT INTO history_gone VALUES(233,'Title 构建完成 232','body gamma',replace('Title  构  建  完  成  232\nbody gamma','\n',char(10)));
INSERT INTO history_gone VALUES(234,'Title ビルド 233','body delta',replace('Title  ビ  ル  ド  233\nbody delta','\n',char(10)));
INSERT INTO history_gone VALUES(236,'Title beta 235','body alpha',NULL);
INSERT INTO history_gone VALUES(237,'Title gamma 236','body beta',NULL);
INSERT INTO history_gone VALUES(238,'Title delta 237','body gamma',NULL);
INSERT INTO history_gone VALUES(239,'Title 构建完成 238','body delta',replace('Title  构  建  完  成  238\nbody delta','\n',char(10)));
INSERT INTO history_gone VALUES(240,'Title ビルド 239','body 构建完成',replace('Title  ビ  ル  ド  239\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history_gone VALUES(241,'Title alpha 240','body alpha',NULL);
INSERT INTO history_gone VALUES(242,'Title beta 241','body beta',NULL);
INSERT INTO history_gone VALUES(243,'Title gamma 242','body gamma',NULL);
INSERT INTO history_gone VALUES(244,'Title delta 243','body delta',NULL);
INSERT INTO history_gone VALUES(245,'Title 构建完成 244','body 构建完成',replace('Title  构  建  完  成  244\nbody  构  建  完  成 ','\n',char(10)));
INSERT INTO history_gone VALUES(246,'Title ビルド 245','body alpha',replace('Title  ビ  ル  ド  245\nbody alpha','\n',char(10)));
INSERT INTO history_gone VALUES(247,'Title alpha 246','body beta',NULL);
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    revision INTEGER NOT NULL,
    author TEXT NOT NULL,
    base INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO setting VALUES('enabled','true',3,'',3);
INSERT INTO setting VALUES('quietHoursStart','"23:30"',1,'',1);
INSERT INTO setting VALUES('retentionRows','40',1,'',1);
INSERT INTO setting VALUES('soundEnabled','false',1,'',1);
CREATE TABLE skill_off (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE allowance (
    device TEXT NOT NULL,
    skill TEXT NOT NULL,
    risk INTEGER NOT NULL,
    PRIMARY KEY (device, skill)
) STRICT, WITHOUT ROWID;
INSERT INTO allowance VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','notification',1);
CREATE TABLE outbox_device (
    device TEXT PRIMARY KEY NOT NULL,
    last INTEGER NOT NULL,
    acknowledged INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO outbox_device VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',261,200);
INSERT INTO outbox_device VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',290,250);
INSERT INTO outbox_device VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',256,150);
CREATE TABLE outbox_push (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    payload TEXT NOT NULL
) STRICT;
INSERT INTO outbox_push VALUES(168,'n167','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n167","title":"Title ビルド 167","body":"body gamma","priority":"urgent","source":"pc","timestamp":1729202400000}}');
INSERT INTO outbox_push VALUES(169,'n168','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n168","title":"Title alpha 168","body":"body delta","priority":"low","source":"pc","timestamp":1729209600000,"data":{"n":168,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(170,'n169','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n169","title":"Title beta 169","body":"body 构建完成","priority":"normal","source":"pc","timestamp":1729216800000}}');
INSERT INTO outbox_push VALUES(171,'n170','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n170","title":"Title gamma 170","body":"body alpha","priority":"high","source":"mobile","timestamp":1729224000000,"deepLink":"app://x","threadId":"t"}}');
INSERT INTO outbox_push VALUES(173,'n172','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n172","title":"Title 构建完成 172","body":"body gamma","priority":"low","source":"pc","timestamp":1729238400000}}');
INSERT INTO outbox_push VALUES(175,'n174','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n174","title":"Title alpha 174","body":"body 构建完成","priority":"high","source":"pc","timestamp":1729252800000}}');
INSERT INTO outbox_push VALUES(176,'n175','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n175","title":"Title beta 175","body":"body alpha","priority":"urgent","source":"mobile","timestamp":1729260000000,"data":{"n":175,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(177,'n176','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n176","title":"Title gamma 176","body":"body beta","priority":"low","source":"pc","timestamp":1729267200000,"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(178,'n177','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n177","title":"Title delta 177","body":"body gamma","priority":"normal","source":"pc","timestamp":1729274400000}}');
INSERT INTO outbox_push VALUES(179,'n178','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n178","title":"Title 构建完成 178","body":"body delta","priority":"high","source":"pc","timestamp":1729281600000}}');
INSERT INTO outbox_push VALUES(180,'n179','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n179","title":"Title ビルド 179","body":"body 构建完成","priority":"urgent","source":"pc","timestamp":1729288800000}}');
INSERT INTO outbox_push VALUES(182,'n181','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n181","title":"Title beta 181","body":"body beta","priority":"normal","source":"pc","timestamp":1729303200000}}');
INSERT INTO outbox_push VALUES(183,'n182','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n182","title":"Title gamma 182","body":"body gamma","priority":"high","source":"pc","timestamp":1729310400000,"data":{"n":182,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(185,'n184','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n184","title":"Title 构建完成 184","body":"body 构建完成","priority":"low","source":"pc","timestamp":1729324800000}}');
INSERT INTO outbox_push VALUES(186,'n185','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n185","title":"Title ビルド 185","body":"body alpha","priority":"normal","source":"mobile","timestamp":1729332000000}}');
INSERT INTO outbox_push VALUES(187,'n186','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n186","title":"Title alpha 186","body":"body beta","priority":"high","source":"pc","timestamp":1729339200000}}');
INSERT INTO outbox_push VALUES(188,'n187','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n187","title":"Title beta 187","body":"body gamma","priority":"urgent","source":"pc","timestamp":1729346400000,"expiresAt":1814400000000,"deepLink":"app://x","threadId":"t"}}');
INSERT INTO outbox_push VALUES(189,'n188','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n188","title":"Title gamma 188","body":"body delta","priority":"low","source":"pc","timestamp":1729353600000}}');
INSERT INTO outbox_push VALUES(191,'n190','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n190","title":"Title 构建完成 190","body":"body alpha","priority":"high","source":"mobile","timestamp":1729368000000}}');
INSERT INTO outbox_push VALUES(192,'n191','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n191","title":"Title ビルド 191","body":"body beta","priority":"urgent","source":"pc","timestamp":1729375200000}}');
INSERT INTO outbox_push VALUES(193,'n192','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n192","title":"Title alpha 192","body":"body gamma","priority":"low","source":"pc","timestamp":1729382400000}}');
INSERT INTO outbox_push VALUES(195,'n194','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n194","title":"Title gamma 194","body":"body 构建完成","priority":"high","source":"pc","timestamp":1729396800000}}');
INSERT INTO outbox_push VALUES(196,'n195','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n195","title":"Title delta 195","body":"body alpha","priority":"urgent","source":"mobile","timestamp":1729404000000}}');
INSERT INTO outbox_push VALUES(197,'n196','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n196","title":"Title 构建完成 196","body":"body beta","priority":"low","source":"pc","timestamp":1729411200000,"data":{"n":196,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(198,'n197','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n197","title":"Title ビルド 197","body":"body gamma","priority":"normal","source":"pc","timestamp":1729418400000}}');
INSERT INTO outbox_push VALUES(200,'n199','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n199","title":"Title beta 199","body":"body 构建完成","priority":"urgent","source":"pc","timestamp":1729432800000}}');
INSERT INTO outbox_push VALUES(201,'n200','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n200","title":"Title gamma 200","body":"body alpha","priority":"low","source":"mobile","timestamp":1729440000000}}');
INSERT INTO outbox_push VALUES(202,'n201','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n201","title":"Title delta 201","body":"body beta","priority":"normal","source":"pc","timestamp":1729447200000}}');
INSERT INTO outbox_push VALUES(203,'n202','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n202","title":"Title 构建完成 202","body":"body gamma","priority":"high","source":"pc","timestamp":1729454400000}}');
INSERT INTO outbox_push VALUES(205,'n204','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n204","title":"Title alpha 204","body":"body 构建完成","priority":"low","source":"pc","timestamp":1729468800000,"deepLink":"app://x","threadId":"t"}}');
INSERT INTO outbox_push VALUES(206,'n205','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n205","title":"Title beta 205","body":"body alpha","priority":"normal","source":"mobile","timestamp":1729476000000}}');
INSERT INTO outbox_push VALUES(207,'n206','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n206","title":"Title gamma 206","body":"body beta","priority":"high","source":"pc","timestamp":1729483200000}}');
INSERT INTO outbox_push VALUES(209,'n208','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n208","title":"Title 构建完成 208","body":"body delta","priority":"low","source":"pc","timestamp":1729497600000}}');
INSERT INTO outbox_push VALUES(210,'n209','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n209","title":"Title ビルド 209","body":"body 构建完成","priority":"normal","source":"pc","timestamp":1729504800000,"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(211,'n210','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n210","title":"Title alpha 210","body":"body alpha","priority":"high","source":"mobile","timestamp":1729512000000,"data":{"n":210,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(212,'n211','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n211","title":"Title beta 211","body":"body beta","priority":"urgent","source":"pc","timestamp":1729519200000}}');
INSERT INTO outbox_push VALUES(213,'n212','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n212","title":"Title gamma 212","body":"body gamma","priority":"low","source":"pc","timestamp":1729526400000}}');
INSERT INTO outbox_push VALUES(215,'n214','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n214","title":"Title 构建完成 214","body":"body 构建完成","priority":"high","source":"pc","timestamp":1729540800000}}');
INSERT INTO outbox_push VALUES(216,'n215','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n215","title":"Title ビルド 215","body":"body alpha","priority":"urgent","source":"mobile","timestamp":1729548000000}}');
INSERT INTO outbox_push VALUES(218,'n217','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n217","title":"Title beta 217","body":"body gamma","priority":"normal","source":"pc","timestamp":1729562400000,"data":{"n":217,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(219,'n218','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n218","title":"Title gamma 218","body":"body delta","priority":"high","source":"pc","timestamp":1729569600000}}');
INSERT INTO outbox_push VALUES(220,'n219','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n219","title":"Title delta 219","body":"body 构建完成","priority":"urgent","source":"pc","timestamp":1729576800000}}');
INSERT INTO outbox_push VALUES(221,'n220','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n220","title":"Title 构建完成 220","body":"body alpha","priority":"low","source":"mobile","timestamp":1729584000000,"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(222,'n221','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n221","title":"Title ビルド 221","body":"body beta","priority":"normal","source":"pc","timestamp":1729591200000,"deepLink":"app://x","threadId":"t"}}');
INSERT INTO outbox_push VALUES(223,'n222','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n222","title":"Title alpha 222","body":"body gamma","priority":"high","source":"pc","timestamp":1729598400000}}');
INSERT INTO outbox_push VALUES(225,'n224','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n224","title":"Title gamma 224","body":"body 构建完成","priority":"low","source":"pc","timestamp":1729612800000,"data":{"n":224,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(227,'n226','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n226","title":"Title 构建完成 226","body":"body beta","priority":"high","source":"pc","timestamp":1729627200000}}');
INSERT INTO outbox_push VALUES(228,'n227','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n227","title":"Title ビルド 227","body":"body gamma","priority":"urgent","source":"pc","timestamp":1729634400000}}');
INSERT INTO outbox_push VALUES(229,'n228','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n228","title":"Title alpha 228","body":"body delta","priority":"low","source":"pc","timestamp":1729641600000}}');
INSERT INTO outbox_push VALUES(230,'n229','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n229","title":"Title beta 229","body":"body 构建完成","priority":"normal","source":"pc","timestamp":1729648800000}}');
INSERT INTO outbox_push VALUES(231,'n230','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n230","title":"Title gamma 230","body":"body alpha","priority":"high","source":"mobile","timestamp":1729656000000}}');
INSERT INTO outbox_push VALUES(232,'n231','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n231","title":"Title delta 231","body":"body beta","priority":"urgent","source":"pc","timestamp":1729663200000,"data":{"n":231,"t":"é\"x"},"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(233,'n232','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n232","title":"Title 构建完成 232","body":"body gamma","priority":"low","source":"pc","timestamp":1729670400000}}');
INSERT INTO outbox_push VALUES(236,'n235','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n235","title":"Title beta 235","body":"body alpha","priority":"urgent","source":"mobile","timestamp":1729692000000}}');
INSERT INTO outbox_push VALUES(237,'n236','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n236","title":"Title gamma 236","body":"body beta","priority":"low","source":"pc","timestamp":1729699200000}}');
INSERT INTO outbox_push VALUES(238,'n237','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n237","title":"Title delta 237","body":"body gamma","priority":"normal","source":"pc","timestamp":1729706400000}}');
INSERT INTO outbox_push VALUES(239,'n238','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n238","title":"Title 构建完成 238","body":"body delta","priority":"high","source":"pc","timestamp":1729713600000,"data":{"n":238,"t":"é\"x"},"deepLink":"app://x","threadId":"t"}}');
INSERT INTO outbox_push VALUES(240,'n239','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n239","title":"Title ビルド 239","body":"body 构建完成","priority":"urgent","source":"pc","timestamp":1729720800000}}');
INSERT INTO outbox_push VALUES(241,'n240','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n240","title":"Title alpha 240","body":"body alpha","priority":"low","source":"mobile","timestamp":1729728000000}}');
INSERT INTO outbox_push VALUES(242,'n241','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n241","title":"Title beta 241","body":"body beta","priority":"normal","source":"pc","timestamp":1729735200000}}');
INSERT INTO outbox_push VALUES(243,'n242','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n242","title":"Title gamma 242","body":"body gamma","priority":"high","source":"pc","timestamp":1729742400000,"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(245,'n244','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n244","title":"Title 构建完成 244","body":"body 构建完成","priority":"low","source":"pc","timestamp":1729756800000}}');
INSERT INTO outbox_push VALUES(246,'n245','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n245","title":"Title ビルド 245","body":"body alpha","priority":"normal","source":"mobile","timestamp":1729764000000,"data":{"n":245,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(247,'n246','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n246","title":"Title alpha 246","body":"body beta","priority":"high","source":"pc","timestamp":1729771200000}}');
INSERT INTO outbox_push VALUES(248,'n247','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n247","title":"Title beta 247","body":"body gamma","priority":"urgent","source":"pc","timestamp":1729778400000}}');
INSERT INTO outbox_push VALUES(249,'n248','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n248","title":"Title gamma 248","body":"body delta","priority":"low","source":"pc","timestamp":1729785600000}}');
INSERT INTO outbox_push VALUES(250,'n249','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n249","title":"Title delta 249","body":"body 构建完成","priority":"normal","source":"pc","timestamp":1729792800000}}');
INSERT INTO outbox_push VALUES(251,'n250','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n250","title":"Title 构建完成 250","body":"body alpha","priority":"high","source":"mobile","timestamp":1729800000000}}');
INSERT INTO outbox_push VALUES(252,'n251','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n251","title":"Title ビルド 251","body":"body beta","priority":"urgent","source":"pc","timestamp":1729807200000,"silenced":true}}');
INSERT INTO outbox_push VALUES(255,'n254','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n254","title":"Title gamma 254","body":"body 构建完成","priority":"high","source":"pc","timestamp":1729828800000,"silenced":true}}');
INSERT INTO outbox_push VALUES(256,'n255','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n255","title":"Title delta 255","body":"body alpha","priority":"urgent","source":"mobile","timestamp":1729836000000,"silenced":true,"deepLink":"app://x","threadId":"t"}}');
INSERT INTO outbox_push VALUES(257,'n256','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n256","title":"Title 构建完成 256","body":"body beta","priority":"low","source":"pc","timestamp":1729843200000,"silenced":true}}');
INSERT INTO outbox_push VALUES(258,'n257','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n257","title":"Title ビルド 257","body":"body gamma","priority":"normal","source":"pc","timestamp":1729850400000}}');
INSERT INTO outbox_push VALUES(259,'n258','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n258","title":"Title alpha 258","body":"body delta","priority":"high","source":"pc","timestamp":1729857600000}}');
INSERT INTO outbox_push VALUES(260,'n259','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n259","title":"Title beta 259","body":"body 构建完成","priority":"urgent","source":"pc","timestamp":1729864800000,"data":{"n":259,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(261,'n260','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n260","title":"Title gamma 260","body":"body alpha","priority":"low","source":"mobile","timestamp":1729872000000}}');
INSERT INTO outbox_push VALUES(263,'n262','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n262","title":"Title 构建完成 262","body":"body gamma","priority":"high","source":"pc","timestamp":1729886400000}}');
INSERT INTO outbox_push VALUES(264,'n263','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n263","title":"Title ビルド 263","body":"body delta","priority":"urgent","source":"pc","timestamp":1729893600000}}');
INSERT INTO outbox_push VALUES(265,'n264','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n264","title":"Title alpha 264","body":"body 构建完成","priority":"low","source":"pc","timestamp":1729900800000,"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(266,'n265','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n265","title":"Title beta 265","body":"body alpha","priority":"normal","source":"mobile","timestamp":1729908000000}}');
INSERT INTO outbox_push VALUES(267,'n266','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n266","title":"Title gamma 266","body":"body beta","priority":"high","source":"pc","timestamp":1729915200000,"data":{"n":266,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(268,'n267','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n267","title":"Title delta 267","body":"body gamma","priority":"urgent","source":"pc","timestamp":1729922400000}}');
INSERT INTO outbox_push VALUES(270,'n269','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n269","title":"Title ビルド 269","body":"body 构建完成","priority":"normal","source":"pc","timestamp":1729936800000}}');
INSERT INTO outbox_push VALUES(272,'n271','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n271","title":"Title beta 271","body":"body beta","priority":"urgent","source":"pc","timestamp":1729951200000}}');
INSERT INTO outbox_push VALUES(273,'n272','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n272","title":"Title gamma 272","body":"body gamma","priority":"low","source":"pc","timestamp":1729958400000,"deepLink":"app://x","threadId":"t"}}');
INSERT INTO outbox_push VALUES(274,'n273','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n273","title":"Title delta 273","body":"body delta","priority":"normal","source":"pc","timestamp":1729965600000,"data":{"n":273,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(275,'n274','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n274","title":"Title 构建完成 274","body":"body 构建完成","priority":"high","source":"pc","timestamp":1729972800000}}');
INSERT INTO outbox_push VALUES(276,'n275','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n275","title":"Title ビルド 275","body":"body alpha","priority":"urgent","source":"mobile","timestamp":1729980000000,"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(277,'n276','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n276","title":"Title alpha 276","body":"body beta","priority":"low","source":"pc","timestamp":1729987200000}}');
INSERT INTO outbox_push VALUES(278,'n277','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n277","title":"Title beta 277","body":"body gamma","priority":"normal","source":"pc","timestamp":1729994400000}}');
INSERT INTO outbox_push VALUES(279,'n278','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n278","title":"Title gamma 278","body":"body delta","priority":"high","source":"pc","timestamp":1730001600000}}');
INSERT INTO outbox_push VALUES(280,'n279','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n279","title":"Title delta 279","body":"body 构建完成","priority":"urgent","source":"pc","timestamp":1730008800000,"collapseKey":"key1"}}');
INSERT INTO outbox_push VALUES(281,'n280','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n280","title":"Title 构建完成 280","body":"body alpha","priority":"low","source":"mobile","timestamp":1730016000000,"data":{"n":280,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(282,'n281','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n281","title":"Title ビルド 281","body":"body beta","priority":"normal","source":"pc","timestamp":1730023200000}}');
INSERT INTO outbox_push VALUES(283,'n282','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n282","title":"Title alpha 282","body":"body gamma","priority":"high","source":"pc","timestamp":1730030400000}}');
INSERT INTO outbox_push VALUES(284,'n283','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n283","title":"Title beta 283","body":"body delta","priority":"urgent","source":"pc","timestamp":1730037600000}}');
INSERT INTO outbox_push VALUES(286,'n285','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n285","title":"Title delta 285","body":"body alpha","priority":"normal","source":"mobile","timestamp":1730052000000}}');
INSERT INTO outbox_push VALUES(287,'n286','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n286","title":"Title 构建完成 286","body":"body beta","priority":"high","source":"pc","timestamp":1730059200000,"expiresAt":1814400000000}}');
INSERT INTO outbox_push VALUES(288,'n287','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n287","title":"Title ビルド 287","body":"body gamma","priority":"urgent","source":"pc","timestamp":1730066400000,"data":{"n":287,"t":"é\"x"}}}');
INSERT INTO outbox_push VALUES(289,'n288','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n288","title":"Title alpha 288","body":"body delta","priority":"low","source":"pc","timestamp":1730073600000,"collapseKey":"key0"}}');
INSERT INTO outbox_push VALUES(290,'n289','{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n289","title":"Title beta 289","body":"body 构建完成","priority":"normal","source":"pc","timestamp":1730080800000,"deepLink":"app://x","threadId":"t"}}');
CREATE TABLE outbox (
    device TEXT NOT NULL,
    seq INTEGER NOT NULL,
    push INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    collapse_key TEXT,
    PRIMARY KEY (device, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',201,223,1732190400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',202,225,1732204800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',204,227,1732219200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',205,228,1732226400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',206,229,1732233600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',207,230,1732240800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',208,231,1732248000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',209,232,1732255200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',210,233,1732262400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',212,236,1732284000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',213,237,1732291200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',214,238,1732298400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',215,239,1732305600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',216,240,1732312800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',217,241,1732320000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',218,242,1732327200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',219,243,1732334400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',220,245,1732348800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',221,246,1732356000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',222,247,1732363200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',223,248,1732370400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',224,249,1732377600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',225,250,1732384800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',226,251,1732392000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',227,252,1732399200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',229,255,1732420800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',230,256,1732428000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',231,257,1732435200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',232,258,1732442400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',233,259,1732449600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',234,260,1732456800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',235,261,1732464000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',237,263,1732478400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',238,265,1732492800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',239,266,1732500000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',240,267,1732507200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',241,268,1732514400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',243,270,1732528800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',245,272,1732543200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',246,273,1732550400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',247,275,1732564800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',248,276,1732572000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',249,277,1732579200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',250,278,1732586400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',251,279,1732593600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',252,280,1732600800000,'key1');
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',253,281,1732608000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',254,282,1732615200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',255,283,1732622400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',257,286,1732644000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',258,287,1732651200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',259,288,1732658400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',260,289,1732665600000,'key0');
INSERT INTO outbox VALUES('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',261,290,1732672800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',251,251,1732392000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',252,252,1732399200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',255,255,1732420800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',256,256,1732428000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',258,258,1732442400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',259,259,1732449600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',260,260,1732456800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',261,261,1732464000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',263,263,1732478400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',264,264,1732485600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',265,265,1732492800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',266,266,1732500000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',267,267,1732507200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',268,268,1732514400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',270,270,1732528800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',272,272,1732543200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',273,273,1732550400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',274,274,1732557600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',275,275,1732564800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',276,276,1732572000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',277,277,1732579200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',278,278,1732586400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',279,279,1732593600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',280,280,1732600800000,'key1');
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',281,281,1732608000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',282,282,1732615200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',283,283,1732622400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',284,284,1732629600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',286,286,1732644000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',287,287,1732651200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',288,288,1732658400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',289,289,1732665600000,'key0');
INSERT INTO outbox VALUES('did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',290,290,1732672800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',151,168,1729288800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',152,169,1729296000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',153,170,1729303200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',154,171,1729310400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',156,173,1729324800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',157,175,1729339200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',158,176,1729346400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',159,177,1729353600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',160,178,1729360800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',161,179,1729368000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',162,180,1729375200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',164,182,1729389600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',165,183,1729396800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',166,185,1729411200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',167,186,1729418400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',168,187,1729425600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',169,188,1729432800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',170,189,1729440000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',172,191,1729454400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',173,192,1729461600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',174,193,1729468800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',175,195,1729483200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',176,196,1729490400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',177,197,1729497600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',178,198,1729504800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',180,200,1729519200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',181,201,1729526400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',182,202,1729533600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',183,203,1729540800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',184,205,1729555200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',185,206,1729562400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',186,207,1729569600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',188,209,1729584000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',189,210,1729591200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',190,211,1729598400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',191,212,1729605600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',192,213,1729612800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',193,215,1729627200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',194,216,1729634400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',196,218,1729648800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',197,219,1729656000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',198,220,1729663200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',199,221,1729670400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',200,222,1729677600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',201,223,1729684800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',202,225,1729699200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',204,227,1729713600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',205,228,1729720800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',206,229,1729728000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',207,230,1729735200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',208,231,1729742400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',209,232,1729749600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',210,233,1729756800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',212,236,1729778400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',213,237,1729785600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',214,238,1729792800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',215,239,1729800000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',216,240,1729807200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',217,241,1729814400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',218,242,1729821600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',219,243,1729828800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',220,245,1729843200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',221,246,1729850400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',222,247,1729857600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',223,248,1729864800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',224,249,1729872000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',225,250,1729879200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',226,251,1729886400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',227,258,1729936800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',228,259,1729944000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',229,260,1729951200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',230,261,1729958400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',232,263,1729972800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',233,265,1729987200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',234,266,1729994400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',235,267,1730001600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',236,268,1730008800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',238,270,1730023200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',240,272,1730037600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',241,273,1730044800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',242,275,1730059200000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',243,276,1730066400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',244,277,1730073600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',245,278,1730080800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',246,279,1730088000000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',247,280,1730095200000,'key1');
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',248,281,1730102400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',249,282,1730109600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',250,283,1730116800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',252,286,1730138400000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',253,287,1730145600000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',254,288,1730152800000,NULL);
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',255,289,1730160000000,'key0');
INSERT INTO outbox VALUES('did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN',256,290,1730167200000,NULL);
CREATE TABLE command_answer (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    id TEXT NOT NULL,
    method TEXT NOT NULL,
    answered_at INTEGER NOT NULL,
    result TEXT NOT NULL,
    -- 1 = it is what is known so far.
    open INTEGER NOT NULL CHECK (open IN (0, 1)),
    UNIQUE (device, id)
) STRICT;
INSERT INTO command_answer VALUES(1,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','r0','notification.send',1730592000000,'{"success":true,"n":0}',0);
INSERT INTO command_answer VALUES(2,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r1','notification.send',1730592000001,'{"success":true,"n":1}',0);
INSERT INTO command_answer VALUES(3,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r2','notification.send',1730592000002,'{"success":true,"n":2}',0);
INSERT INTO command_answer VALUES(4,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','r3','notification.send',1730592000003,'{"success":true,"n":3}',0);
INSERT INTO command_answer VALUES(5,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r4','notification.send',1730592000004,'{"success":true,"n":4}',1);
INSERT INTO command_answer VALUES(6,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r5','notification.send',1730592000005,'{"success":true,"n":5}',0);
INSERT INTO command_answer VALUES(7,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','r6','notification.send',1730592000006,'{"success":true,"n":6}',0);
INSERT INTO command_answer VALUES(8,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r7','notification.send',1730592000007,'{"success":true,"n":7}',0);
INSERT INTO command_answer VALUES(9,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r8','notification.send',1730592000008,'{"success":true,"n":8}',0);
INSERT INTO command_answer VALUES(10,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','r9','notification.send',1730592000009,'{"success":true,"n":9}',1);
INSERT INTO command_answer VALUES(11,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r10','notification.send',1730592000010,'{"success":true,"n":10}',0);
INSERT INTO command_answer VALUES(12,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r11','notification.send',1730592000011,'{"success":true,"n":11}',0);
INSERT INTO command_answer VALUES(13,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','r12','notification.send',1730592000012,'{"success":true,"n":12}',0);
INSERT INTO command_answer VALUES(14,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r13','notification.send',1730592000013,'{"success":true,"n":13}',0);
INSERT INTO command_answer VALUES(15,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r14','notification.send',1730592000014,'{"success":true,"n":14}',1);
INSERT INTO command_answer VALUES(16,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','r15','notification.send',1730592000015,'{"success":true,"n":15}',0);
INSERT INTO command_answer VALUES(17,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r16','notification.send',1730592000016,'{"success":true,"n":16}',0);
INSERT INTO command_answer VALUES(18,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r17','notification.send',1730592000017,'{"success":true,"n":17}',0);
INSERT INTO command_answer VALUES(19,'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp','r18','notification.send',1730592000018,'{"success":true,"n":18}',0);
INSERT INTO command_answer VALUES(20,'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK','r19','notification.send',1730592000019,'{"success":true,"n":19}',1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('history',290);
INSERT INTO sqlite_sequence VALUES('command_answer',20);
CREATE INDEX history_newest ON history(created_at);
CREATE INDEX history_facets ON history(source, priority, read, created_at);
CREATE INDEX history_unread ON history(read, created_at) WHERE read = 0;
CREATE TRIGGER history_came AFTER INSERT ON history BEGIN
    UPDATE history_count SET total = total + 1, unread = unread + (new.read = 0);
    INSERT INTO history_tally VALUES (new.created_at / 86400000, new.source, new.priority, new.read, 1)
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER history_moved AFTER UPDATE OF created_at, source, priority, read ON history BEGIN
    UPDATE history_count SET unread = unread + (new.read = 0) - (old.read = 0);
    UPDATE history_tally SET n = n - 1 WHERE day = old.created_at / 86400000 AND source = old.source
        AND priority = old.priority AND read = old.read;
    INSERT INTO history_tally VALUES (new.created_at / 86400000, new.source, new.priority, new.read, 1)
        ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER history_left AFTER DELETE ON history BEGIN
    UPDATE history_count SET total = total - 1, unread = unread - (old.read = 0);
    UPDATE history_tally SET n = n - 1 WHERE day = old.created_at / 86400000 AND source = old.source
        AND priority = old.priority AND read = old.read;
END;
CREATE INDEX outbox_push_id ON outbox_push(id);
CREATE INDEX outbox_of_push ON outbox(push);
CREATE INDEX outbox_collapse ON outbox(device, collapse_key) WHERE collapse_key IS NOT NULL;
CREATE TRIGGER outbox_left AFTER DELETE ON outbox BEGIN
    DELETE FROM outbox_push WHERE row = old.push
        AND NOT EXISTS (SELECT 1 FROM outbox WHERE push = old.push);
END;
CREATE INDEX history_collapse ON history(collapse_key) WHERE collapse_key IS NOT NULL;
CREATE INDEX command_answer_device ON command_answer(device, row);
CREATE INDEX command_answer_age ON command_answer(answered_at);
PRAGMA writable_schema=OFF;
COMMIT;
