/// The words of a ``ShortAuthenticationString``: 1,024 short English ones, so ten bits a word.
///
/// No two begin with the same four letters. The list is part of the protocol: both sides show the same words only while
/// it stays as it is, in its order.
enum WordList {
    static let words: [String] = text.split(separator: " ").map(String.init)

    private static let text = """
        able acorn actor adapt afar agate agent agile ahead aide aim alarm album alder alert algae alley alloy aloe \
        alto amber amble ample amuse anchor angle ankle annex antler anvil apple apron aqua arbor arch arena argue \
        arrow artist aspen aster atlas atom audio avenue award axis azure baby bacon badge bagel baker bamboo band \
        banjo bank barge bark barn basalt basil batch bath beach bead beam bean bear beaver beige bell bench berry \
        bike birch bird bison blade blaze blend blimp blink block bloom blue board boat bolt bone bonus book boot \
        bottle bow box brace braid brave bread breeze brick brisk broom brown brush bubble bugle build bulb bumper \
        bunny butter buzz cabin cable cadet cafe cage cake calm camel camp canal candle cane cape cargo carpet cart \
        castle cat cave cedar chain chalk charm cheese chief chime chorus cider circle city clam clay clean clerk \
        cliff climb clip cloak clock cloth cloud clover clown club coal cobra cocoa coffee coin comb comet coral \
        cord cork corn cotton couch cove cow cozy crab craft crane crayon cream creek crew crisp crown crust cube \
        cup curve cycle daily dairy dance dapper dart dash date dawn day deck deer delta denim depot desk dial diet \
        dingo disc ditch diver dock dog dome donkey donut door dot dove dozen drama draw dream dress drift drill \
        drum dry duck duet dune dusk dust duty eager eagle early earth easel east easy echo edge editor egg elbow \
        elect elk elm ember engine enjoy entry envoy epic equal essay ether event exact exit extra eye fable fabric \
        face fact fair fame family fancy farm fast faucet fawn feast felt fence fern ferry few fiber field fig film \
        filter finch fire first fish five flag flame flask flax fleet flint float flock flora fluid flute foam focus \
        fog foil folk font foot forest fork fort fox frame fresh friend frog frost fruit fudge fuel fur gable gadget \
        gallon game garden gate gecko gem genie giant gift ginger glad glass glide globe glove glue goat gold golf \
        good goose gorge gourd grace grain grand grape great green grid grill grip grove guard guest guide guitar \
        gulf gum gust habit hair half hall ham hand happy harp hat haven hawk hazel head heart heavy hedge hello \
        helmet hen herb hero hill hinge hippo hive hobby holly honey hood hook hoop horn horse hotel hound house hug \
        human humble hurdle husky hut ice idea iguana image inch index infant ink inlet inn invite iris iron item \
        ivory ivy jacket jam jar jazz jeans jelly jersey jet jewel job join jolly joy juggle juice july jump june \
        just kale kayak keen keep kelp kennel kettle key kiln kilt kind king kiosk kit kite kiwi knee knob knot \
        koala label lace ladder lady lake lamb lamp lance land lapel large lark latch latin laugh laurel lava lawn \
        layer leaf ledge left lemon lens lentil letter level light lilac lily lime linen lion lip liquid list llama \
        loaf lobby local lodge loft logic long loom lotus loud loyal lucky lumber lunar lunch lynx lyric macaw magic \
        maize major mallet mango manor maple marble march marsh mask mast match meadow meal medal member memo menu \
        merry mesh metal meteor metro mild milk mill mint minute mist mixer moat model mole moment moon moose mop \
        mosaic moss moth motor mouse mouth movie mud mule mural museum myth nail name narrow nature navy near neck \
        neon nephew nest net never new niece night nimble nine noble nomad noon north nose note novel number nurse \
        nut nylon oak oar oasis oat object oboe ocean office often oil okra olive onion onyx opal open opera orange \
        orbit order organ origin otter ounce outer oval oven owl owner oxygen ozone paddle page paint palm panda \
        panel pansy papaya paper park party pasta patch path patrol paw peace peak pear pebble pecan pedal pen perch \
        permit pet petal phone photo piano picnic pier pillow pilot pine pint pipe pitch pixel pizza place plane \
        plate play plaza plum pocket poem poet polar pole polo pond pony poplar poppy porch post potato pouch prawn \
        press pretty prism prize proof proud prune public pulley pulp pulse puma pump pupil purple purse quail \
        quarry queen quest quick quiet quill quiz rabbit race radar radio raft rail rain rake rally ramp ranch rapid \
        rattle raven ray razor ready reed reef regal relay relic remedy rent rescue resin rest rhyme rice riddle \
        ridge ring river road robe robin robot rocket rodeo roof rook room rope rose rotor round royal ruby rug \
        ruler rumba run rural rust saddle sage sail salad salt salute sand sauce scale scarf scene school score \
        scout scroll sea second seed senate seven shade shark shawl sheep shelf shield shine ship shirt shoe shore \
        shrimp shrub signal silk simple siren sister six size skate ski skill skirt sky slate sled sleep slice slope \
        sloth smart smile smoke snail snake snow soap sock soda sofa soft solar solo sonar sonnet soup south soy \
        space spade spark speed spice spider spoon sport spring squid stable stamp star state steam steel stem step \
        stick stone stool storm stove straw studio sugar suit sun super surf swamp swan sweet swift swing syrup \
        system table taco talent tango tank tape target tart task taxi teak tempo ten tent term thank theory thick \
        thorn three thumb tiara ticket tidal tiger tile tin tiny title toast today token tomato tone tool tooth \
        topaz torch total totem tower town toy track trail treaty tree tribe trick trio trout truck trunk trust tuba \
        tulip tuna tundra tunic turkey turtle tutor twig twin tycoon type uncle under union unique unit upper urban \
        urchin urn usual vacuum valve van vase vault vector venue verb verse vest video view villa vine vinyl viola \
        virtue vital vivid vocal voice volley vote wafer wagon walnut waltz warm wasp watch water wave wax weave \
        wedge week well west whale wheat wheel white wild willow wind wing wire wise wish wizard wolf wood wool word \
        world worth wreath wren wrist yacht yard yarn year yeast yellow yes yodel yoga young yoyo zebra zenith zero \
        zest zigzag zinc zodiac zone zoo zoom
        """
}
